import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
const LINES_A_TICK = 100;
const TICK_MS = 50;

/** Two thousand numbered lines a second, until it is stopped. */
class Flood {
  last = 0;
  readonly #say: (text: string) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  start(): void {
    this.#timer = setInterval(() => {
      for (let index = 0; index < LINES_A_TICK; index++) this.#say(`[flood] line ${++this.last}`);
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async until(last: number): Promise<void> {
    await expect.poll(() => this.last, { interval: TICK_MS }).toBeGreaterThanOrEqual(last);
  }
}

describeIf(why, 'a flood on the console page', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;
  let flood: Flood;

  const lines = () => page.getByRole('log', { name: 'Console output' });
  /** How many lines of the flood the page has, by its own search. */
  const count = async () => {
    const [, found] = /of ([\d,]+)$/.exec((await page.locator('.line-matches').textContent()) ?? '') ?? [];
    return Number(found?.replaceAll(',', '') ?? 0);
  };
  const numberIn = async (place: 'first' | 'last') => {
    const row = lines().locator('.line[data-seq]').filter({ hasText: '[flood] line' });
    const text = await (place === 'first' ? row.first() : row.last()).locator('.line-text').textContent();
    return Number(/line (\d+)$/.exec(text ?? '')?.[1] ?? 0);
  };

  beforeAll(async () => {
    panel = await startTestPanel();
    await panel.owner();
    panel.services.logs.console.beginRun();
    flood = new Flood((text) => panel.services.logs.console.append('out', text));
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
    await page.goto(`${panel.address}/#/console`);
    await lines().waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('[flood] line');
  });

  afterAll(async () => {
    flood?.stop();
    await browser?.close();
    await panel?.stop();
  });

  it('loses and repeats no line where the network goes away in the middle of it', async () => {
    flood.start();
    await expect.poll(count).toBeGreaterThan(1_000);
    await page.context().setOffline(true);
    await page.getByText('No connection to the panel').waitFor();
    const atLoss = flood.last;
    await flood.until(atLoss + 2_000);
    await page.context().setOffline(false);
    await page.getByText('No connection to the panel').waitFor({ state: 'detached' });
    await flood.until(atLoss + 4_000);
    flood.stop();
    await expect.poll(count).toBe(flood.last);
    await expect.poll(() => numberIn('last')).toBe(flood.last);
    await expect.poll(() => page.getByText('Lines are missing here').count()).toBe(0);
  });

  it('goes on after a reload in the middle of it, each line once', async () => {
    flood.start();
    await flood.until(flood.last + 500);
    await page.reload();
    await lines().waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('[flood] line');
    await expect.poll(count).toBeGreaterThan(2_500);
    flood.stop();
    await expect.poll(() => numberIn('last')).toBe(flood.last);
    await lines().focus();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Load earlier lines' }).waitFor();
    const first = await numberIn('first');
    await expect.poll(count).toBe(flood.last - first + 1);
  });

  it('did nothing that the policy refuses', () => {
    expect(browser.complaints).toEqual([]);
  });
});
