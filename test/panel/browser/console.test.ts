import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
/** More than the page reads at first. */
const EARLY_LINES = 2_500;

/** Whether the text of a line is as tall as the line, and each row begins with a whole word. */
const ROWS_OF_LINE = `(() => {
  const line = [...document.querySelectorAll('.line')].find((element) => element.textContent.includes('the end of it'));
  const text = line.querySelector('.line-text');
  const range = document.createRange();
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const begins = [];
  let top = -1;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (let at = 0; at < node.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const rect = range.getBoundingClientRect();
      if (rect.top > top + 2) begins.push(node.data.slice(at, at + 4));
      top = Math.max(top, rect.top);
    }
  }
  const rowHeight = parseFloat(getComputedStyle(line).lineHeight);
  return {
    fits: begins.length > 1 && Math.abs(line.clientHeight - begins.length * rowHeight) < 2,
    areWhole: begins.slice(1).every((row) => /^(word|the|end|of)/.test(row)),
  };
})()`;

describeIf(why, 'the console page', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;

  const say = (text: string, stream: 'out' | 'err' = 'out') => panel.services.logs.console.append(stream, text);
  /** Opens the page again, without the filters of the test before. */
  const open = async (path = '#/console') => {
    await page.goto(`${panel.address}/${path}`);
    await page.reload();
    // Keys that are pressed before the first lines are there do nothing.
    await lines().locator('.line[data-seq]').first().waitFor();
  };
  const lines = () => page.getByRole('log', { name: 'Console output' });
  /** In the part of the list that is shown. */
  const isInSight = (text: string) => async () => {
    const [list, line] = [await lines().boundingBox(), await lines().getByText(text).boundingBox()];
    return list !== null && line !== null && line.y >= list.y && line.y + line.height <= list.y + list.height;
  };

  beforeAll(async () => {
    panel = await startTestPanel();
    await panel.owner();
    panel.services.logs.console.beginRun();
    for (let index = 1; index <= EARLY_LINES; index++) say(`early line ${index}`);
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('shows hostile lines as the text they are', async () => {
    await open();
    say(`<img src=x onerror="document.title='owned'"> <script>document.title='owned'</script>`);
    say('\u001b[31mred\u001b[0m \u001b]0;owned\u0007\u001b[2J\u001b[8mseen');
    say('exe.\u202egnp');
    say('x'.repeat(1_000_000));
    say('after all of it');
    await lines().getByText('<img src=x onerror=').waitFor();
    await lines().getByText('exe.\\u{202e}gnp').waitFor();
    await lines().getByText('after all of it').waitFor();
    await lines().getByText('seen').waitFor();
    await expect.poll(() => lines().getByText('red', { exact: true }).getAttribute('class')).toBe('fg-1');
    await expect.poll(() => lines().locator('img, script').count()).toBe(0);
    await expect.poll(() => page.title()).toMatch(/^Console/);
    await expectAccessible(page);
  });

  it('finds text in the lines, marks it, and goes from one to the next', async () => {
    await open();
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill('EARLY LINE 2499');
    await page.getByText('0 of 1').waitFor();
    await search.press('Enter');
    await page.getByText('1 of 1').waitFor();
    await lines().locator('mark', { hasText: 'early line 2499' }).waitFor();
    await page.getByRole('region', { name: /^Line \d+$/ }).waitFor();
    await search.fill('nobody ever said this');
    await page.getByText('Nothing found').waitFor();
    await page.getByText('Filters').click();
    await page.getByLabel('Only matches').check();
    await page.getByRole('button', { name: 'Show all lines' }).click();
    await lines().getByText('after all of it').waitFor();
  });

  it('goes to the newest match first, in either direction', async () => {
    await open();
    for (const number of [1, 2, 3]) say(`a needle, the ${number}th`);
    await lines().getByText('a needle, the 3th').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('a needle');
    await page.getByText('0 of 3').waitFor();
    await page.getByRole('button', { name: 'Next match' }).click();
    await page.getByText('3 of 3').waitFor();
    await page.getByRole('button', { name: 'Previous match' }).click();
    await page.getByText('2 of 3').waitFor();
  });

  it('breaks long lines at blanks, as tall as it has room for', async () => {
    await open();
    const words = Array.from({ length: 40 }, (_, index) => `word${index}-with-a-tail`).join(' ');
    say(`\u001b[33mlong\u001b[0m ${words} the end of it`);
    const line = lines().locator('.line', { hasText: 'the end of it' });
    await line.waitFor();
    await expect.poll(() => page.evaluate(ROWS_OF_LINE)).toEqual({ fits: true, areWhole: true });
  });

  it('shows an error in red, also on the ordinary output', async () => {
    await open();
    say('[shop] SCRIPT ERROR: no such item');
    say('[shop] all is well');
    const colour = async (text: string) => {
      await lines().getByText(text).waitFor();
      const found = `[...document.querySelectorAll('.line-text')].find((line) => line.textContent.includes('${text}'))`;
      return page.evaluate(`getComputedStyle(${found}).color`);
    };
    const red = await colour('SCRIPT ERROR');
    expect(red).not.toBe(await colour('all is well'));
    await expectAccessible(page);
  });

  it('stays where it is when a line in sight is chosen', async () => {
    for (const stopFollowing of ['choose', 'pause']) {
      await open();
      say(`the line to look at: ${stopFollowing}`);
      const line = lines().getByText(`the line to look at: ${stopFollowing}`);
      await line.waitFor();
      if (stopFollowing === 'choose') await line.click();
      else await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: stopFollowing === 'choose' ? 'Latest lines' : 'Resume' }).waitFor();
      // Only what is in sight is there.
      await line.waitFor();
      await expect.poll(() => lines().getByText('early line 1', { exact: true }).count()).toBe(0);
    }
  });

  it('shows the lines of one bundle', async () => {
    await open();
    say('[shop] sold bread');
    say('[ script:bank] no money', 'err');
    await lines().getByText('[shop] sold bread').waitFor();
    await page.getByRole('combobox', { name: 'Bundle' }).selectOption('bank');
    await lines().getByText('no money').waitFor();
    await expect.poll(() => lines().getByText('sold bread').count()).toBe(0);
  });

  it('stands still while it is paused, and then shows what came meanwhile', async () => {
    await open();
    say('said before the pause');
    await lines().getByText('said before the pause').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    say('said in the pause');
    await page.getByText('Paused. New lines: 1').waitFor();
    await expect.poll(() => lines().getByText('said in the pause').count()).toBe(0);
    await expect.poll(isInSight('said before the pause')).toBe(true);
    await page.getByRole('button', { name: 'Resume' }).click();
    await lines().getByText('said in the pause').waitFor();
  });

  it('leaves the reader alone who has scrolled up, tells of new lines, and leads back', async () => {
    await open();
    await lines().focus();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Load earlier lines' }).waitFor();
    say('said below');
    await page.getByRole('button', { name: 'New lines: 1' }).click();
    await lines().getByText('said below').waitFor();
  });

  it('shows what was said while the network was away, also where no line had come before', async () => {
    await open();
    await page.context().setOffline(true);
    await page.getByText('No connection to the panel').waitFor();
    say('said to nobody');
    await page.context().setOffline(false);
    await lines().getByText('said to nobody').waitFor();
  });

  it('reads earlier lines until there are none', async () => {
    await open();
    await lines().focus();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Load earlier lines' }).click();
    await page.getByRole('button', { name: 'Load earlier lines' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Home');
    await lines().getByText('early line 1', { exact: true }).waitFor();
  });

  it('gives a line an address that works live, in the history, and in the file', async () => {
    await open();
    say('a line worth telling');
    const line = lines().locator('.line', { hasText: 'a line worth telling' });
    const seq = Number(await line.getAttribute('data-seq'));
    await line.click();
    const region = page.getByRole('region', { name: `Line ${seq}` });
    await region.getByText('a line worth telling').waitFor();
    await expect.poll(isInSight('a line worth telling')).toBe(true);
    await region.getByRole('button', { name: 'Copy link' }).waitFor();
    await open(`#/console?line=${seq}`);
    await region.getByText('a line worth telling').waitFor();
    await open('#/console?line=7');
    await page.getByText('Lines around number 7, from the log.').waitFor();
    await page.getByRole('region', { name: 'Line 7' }).getByText('early line 7').waitFor();
    await page.getByRole('link', { name: 'Back to live' }).click();
    await lines().getByText('a line worth telling').waitFor();
    const [file] = (await panel.services.logs.console.folder.list()).map(({ name }) => name);
    await page.goto(`${panel.address}/#/logs?file=${file}&line=7`);
    await page.getByRole('region', { name: 'Line 7' }).getByText('early line 7').waitFor();
  });

  it('says where a line is not kept', async () => {
    await page.goto(`${panel.address}/#/console?line=999999999`);
    await page.reload();
    await page.getByText('Line 999999999 is no longer kept.').waitFor();
    await page.getByRole('link', { name: 'Back to live' }).click();
    await lines().getByText('a line worth telling').waitFor();
  });

  it('works with the keyboard alone', async () => {
    await open();
    await lines().focus();
    await page.keyboard.press('Enter');
    const region = page.getByRole('region', { name: /^Line \d+$/ });
    const last = await region.getAttribute('aria-label');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => region.getAttribute('aria-label')).not.toBe(last);
    for (let step = 0; step < 60; step++) await page.keyboard.press('ArrowUp');
    const isSelectedInSight = async () => {
      const seq = /\d+/.exec((await region.getAttribute('aria-label')) ?? '')?.[0];
      return lines().locator(`.selected[data-seq="${seq}"]`).isVisible();
    };
    await expect.poll(isSelectedInSight).toBe(true);
    await page.keyboard.press('Escape');
    await region.waitFor({ state: 'detached' });
    await page.getByText('Filters').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Wrap lines').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Wrap lines').waitFor({ state: 'hidden' });
  });

  it('fits a phone', async () => {
    const phone = await browser.visit(panel.address, { width: 390 });
    await signIn(phone, 'owner', PASSWORD);
    await phone.goto(`${panel.address}/#/console`);
    await phone.getByRole('log', { name: 'Console output' }).getByText('a line worth telling').waitFor();
    await expectAccessible(phone);
    await expect.poll(() => phone.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  it('did nothing that the policy refuses', () => {
    expect(browser.complaints).toEqual([]);
  });
});
