import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();

/** Places of the heading and of each choice, in the page and not in the window: a row may scroll sideways. */
function placesOf(page: Page, choices: string): Promise<string[]> {
  return page.evaluate(
    `[document.querySelector('h1'), ...document.querySelectorAll(${JSON.stringify(choices)})].map((element) => {
      const { width, height } = element.getBoundingClientRect();
      const { offsetLeft, offsetTop } = element;
      return [element.textContent, offsetLeft, offsetTop, Math.round(width * 10), Math.round(height * 10)].join(' ');
    })`,
  );
}

/** Places once nothing loads any more, twice the same. */
async function settledPlaces(page: Page, choices: string): Promise<string[]> {
  await expect.poll(() => page.locator('main .loading').count()).toBe(0);
  let last: string[] = [];
  const isSettled = async () => {
    const before = last;
    last = await placesOf(page, choices);
    return JSON.stringify(last) === JSON.stringify(before);
  };
  await expect.poll(isSettled).toBe(true);
  return last;
}

const TABS = 'main .tabs a';
const RANGES = 'main .segments button';

/** Page, choices, and the attribute of the chosen one. */
const ROWS = [
  ['settings', TABS, 'aria-current'],
  ['logs', TABS, 'aria-current'],
  ['database', TABS, 'aria-current'],
  ['accounts', TABS, 'aria-current'],
  ['overview', RANGES, 'aria-pressed'],
] as const;

describeIf(why, 'pages whose choices stay in place', () => {
  let panel: TestPanel;
  let browser: TestBrowser;

  beforeAll(async () => {
    panel = await startTestPanel({ settings: { backend: 'command' } });
    await panel.owner();
    browser = await TestBrowser.start();
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it.each([1440, 390])('tabs and time ranges do not move when another one is chosen, at %i', async (width) => {
    const page = await browser.visit(panel.address, { width });
    await signIn(page, 'owner', PASSWORD);
    for (const [name, choices, mark] of ROWS) {
      await page.goto(`${panel.address}/#/${name}`);
      // The tabs of the page before look the same.
      await page.getByRole('heading', { level: 1, name: new RegExp(`^${name}$`, 'i') }).waitFor();
      const row = page.locator(choices);
      await row.nth(1).waitFor();
      const before = await settledPlaces(page, choices);
      const count = await row.count();
      for (let index = count - 1; index >= 0; index -= 1) {
        await row.nth(index).click();
        const isChosen = () => row.nth(index).getAttribute(mark);
        await expect.poll(isChosen).toMatch(/^(?:page|true)$/);
        await expect.poll(() => placesOf(page, choices), { message: `${name} ${index}` }).toEqual(before);
      }
    }
    expect(browser.complaints).toEqual([]);
  });
});
