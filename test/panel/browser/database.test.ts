import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { MAX_COLUMN_LENGTH } from '#protocol/limits.ts';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { BIG_ID, HOSTILE, type LivedInPanel, startLivedInPanel } from '../support/lived-in-panel.ts';
import { PASSWORD } from '../support/panel.ts';

const why = await whyNoBrowser();

describeIf(why, 'the database pages', () => {
  const { afterAll, beforeAll, beforeEach, it } = casesInOrder();
  let panel: LivedInPanel;
  let browser: TestBrowser;
  /** May change the database. */
  let page: Page;
  /** May only look. */
  let reader: Page;

  beforeAll(async () => {
    panel = await startLivedInPanel();
    await panel.owner();
    await panel.account('reader', ['database.read']);
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
    reader = await browser.visit(panel.address, { width: 390 });
    await signIn(reader, 'reader', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  // A dialog of the test before it would stand in the way.
  beforeEach(() => page.reload());

  const open = (place: string, on = page) => on.goto(`${panel.address}/#/database${place}`);
  const row = (id: string, on = page) => on.getByRole('button', { name: `Open row ${id}`, exact: true });
  const dialog = (on = page) => on.getByRole('dialog');
  const only = (id: string) =>
    `/rows/game/players?filter=${encodeURIComponent(`{"field":"id","op":"eq","value":${id}}`)}`;

  /** As the database has it, digit for digit. */
  async function stored(id: string): Promise<string> {
    const filter = `{"field":"id","op":"eq","value":${id}}`;
    const answer = await panel.api.call('find', `{"namespace":"game","table":"players","filter":${filter}}`);
    return answer.text;
  }

  it('take rows out into a file, and list the lines of a file that do not fit', async () => {
    await open('/rows/game/players');
    await row('1').waitFor();
    await page.getByRole('button', { name: 'Export, import' }).click();
    const dialog = page.getByRole('dialog');
    const coming = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    expect((await coming).suggestedFilename()).toBe('game.players.csv');
    const file = { name: 'players.csv', mimeType: 'text/csv', buffer: Buffer.from('id,name\n1,twice\nx,wrong\n') };
    await dialog.getByLabel('File of rows').setInputFiles(file);
    await dialog.getByText('Nothing was imported: 2 lines do not fit.').waitFor();
    await dialog.getByRole('row', { name: /^3/ }).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('File of rows').setInputFiles({ ...file, buffer: Buffer.from('id,name\n700,Seven\n') });
    await dialog.getByText('1 row was imported.').waitFor();
    await dialog.getByRole('button', { name: 'Show the rows' }).click();
    await row('1').waitFor();
    const { rows } = await panel.api.must<{ rows: object[] }>('find', {
      ...{ namespace: 'game', table: 'players', filter: { field: 'id', op: 'eq', value: 700 } },
    });
    expect(rows).toMatchObject([{ name: 'Seven' }]);
    await panel.api.must('delete', {
      ...{ namespace: 'game', table: 'players', filter: { field: 'id', op: 'eq', value: 700 } },
    });
  });

  it('say in front of the dialog why a filter takes no rows out, and stay', async () => {
    const filter = JSON.stringify({ field: 'nowhere', op: 'eq', value: 1 });
    await open(`/rows/game/players?filter=${encodeURIComponent(filter)}`);
    await page.getByRole('button', { name: 'Export, import' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Download' }).click();
    const reason = page.getByRole('status').filter({ hasText: 'unknown column "nowhere"' });
    await reason.waitFor();
    // In front of the dialog, not behind it: it can be pressed.
    await reason.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => reason.count()).toBe(0);
    await page.getByRole('heading', { name: 'game.players', level: 1 }).waitFor();
  });

  it('give a finger all it presses, and a long name of a column leaves its value in view', async () => {
    const name = 'm'.repeat(MAX_COLUMN_LENGTH);
    const columns = [
      { name: 'id', type: 'int32' },
      { name, type: 'string', length: 200 },
    ];
    const tables = [{ name: 'wide', primaryKey: ['id'], columns }];
    await panel.api.must('schema.extend', { namespace: 'game', part: 'wide', schema: { tables } });
    await panel.api.must('insert', { namespace: 'game', table: 'wide', rows: [{ id: 1, [name]: 'v'.repeat(200) }] });
    const phone = await browser.visit(panel.address, { width: 390, touch: true });
    await phone.context().addCookies(await page.context().cookies());
    await open('', phone);
    await phone.reload();
    const isHigh = async (each: Locator) =>
      expect.poll(async () => (await each.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await isHigh(phone.getByRole('link', { name: 'wide', exact: true }));
    await open('/rows/game/wide', phone);
    await isHigh(row('1', phone));
    await isHigh(phone.getByRole('button', { name, exact: true }));
    const value = await phone.getByRole('cell').filter({ hasText: 'vvv' }).locator('.value').boundingBox();
    expect(value?.width).toBeGreaterThan(100);
    expect((value?.x ?? 0) + (value?.width ?? 0)).toBeLessThanOrEqual(390);
    await expect.poll(() => phone.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(phone);
    await phone.close();
  });

  it('refuse a filter that makes no sense, at the field, and ask nothing', async () => {
    await open('/rows/game/players');
    await row('1').waitFor();
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Value').fill('twelve');
    await page.getByRole('button', { name: 'Show these rows' }).click();
    await page.getByText('Write a whole number.').waitFor();
    await expect.poll(() => page.getByLabel('Value').getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => page.evaluate('location.hash')).toBe('#/database/rows/game/players');
  });

  it('say what the database has against a filter that was written as text', async () => {
    await open(`/rows/game/players?filter=${encodeURIComponent('{"not":{"field":"nowhere","op":"eq","value":1}}')}`);
    await page.reload();
    await page.getByText('This filter does not work: filter.not.field: unknown column "nowhere"').waitFor();
    await expect.poll(() => page.getByLabel('Filter as text').inputValue()).toContain('nowhere');
    await expect.poll(() => page.getByLabel('Filter as text').getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await row('1').waitFor();
  });

  it('keep a filter with a wrong operator as it was written, with the reason at its field', async () => {
    await open('/rows/game/players');
    await row('1').waitFor();
    await page.getByRole('button', { name: 'As text' }).click();
    const wrong = '{"field":"money","op":"greater","value":1}';
    await page.getByLabel('Filter as text').fill(wrong);
    await page.getByRole('button', { name: 'Show these rows' }).click();
    await page.getByText('filter.op: expected one of eq').waitFor();
    const field = page.getByRole('textbox', { name: 'Filter as text' });
    await expect.poll(() => field.inputValue()).toBe(wrong);
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill(wrong.replace('greater', 'gt'));
    await page.getByRole('button', { name: 'Show these rows' }).click();
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe(null);
    await expect.poll(() => field.inputValue()).toContain('"gt"');
  });

  it('show tables with their sizes, and rows by a filter that stays in the address', async () => {
    await open('');
    await page.getByRole('link', { name: 'players' }).click();
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Column').selectOption('money');
    await page.getByLabel('Comparison').selectOption('is at least');
    await page.getByLabel('Value').fill('1475');
    await page.getByRole('button', { name: 'Show these rows' }).click();
    await page.getByText('Rows 1 to 2 of 2').waitFor();
    await page.reload();
    await page.getByText('Rows 1 to 2').waitFor();
    await expect.poll(() => page.getByLabel('Value').inputValue()).toBe('1475');
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await page.getByText('Rows 1 to 50 of 121').waitFor();
    await page.getByRole('button', { name: 'Next rows' }).click();
    await page.getByText('Rows 51 to 100 of 121').waitFor();
    await page.getByRole('button', { name: 'money' }).click();
    await page.getByRole('button', { name: 'money' }).click();
    await expect.poll(() => page.getByRole('row').nth(1).textContent()).toContain('1487.50');
    const header = page.getByRole('columnheader', { name: 'money' });
    const before = await header.boundingBox();
    await page.locator('.rows-frame').evaluate((frame) => frame.scrollTo(0, 500));
    await expect.poll(() => header.boundingBox()).toEqual(before);
  });

  it('show every digit of a number, and a hostile name as the text that it is', async () => {
    await open(only(BIG_ID));
    await row(BIG_ID).click();
    await expect.poll(() => dialog().getByLabel('name', { exact: true }).inputValue()).toBe(HOSTILE);
    await expect
      .poll(() => dialog().getByLabel('inventory', { exact: true }).inputValue())
      .toContain(`"serial": ${BIG_ID}`);
    await expect.poll(() => page.title()).not.toContain('hacked');
    await expect.poll(() => page.locator('main img').count()).toBe(0);
  });

  it('change one row after a preview, by keyboard alone, and keep the digits of the rest', async () => {
    await open(only(BIG_ID));
    await row(BIG_ID).focus();
    await page.keyboard.press('Enter');
    await dialog().getByLabel('money').focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('9999999999999999.25');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Preview');
    await page.keyboard.press('Enter');
    await dialog().getByRole('row', { name: 'money' }).getByText('9999999999999999.25').waitFor();
    expect(await stored(BIG_ID)).toContain('"money":0.1');
    await expectAccessible(page);
    await tabTo(page, 'Save');
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    await expect.poll(() => stored(BIG_ID)).toContain('"money":9999999999999999.25');
    expect(await stored(BIG_ID)).toContain(`"inventory":{"serial":${BIG_ID}}`);
  });

  it('say at its field what a column cannot hold, and warn while the server runs', async () => {
    await open(only('8'));
    await row('8').click();
    const warning = dialog().getByText('The server is running.');
    await dialog().getByLabel('money').fill('1.234');
    await dialog().getByRole('button', { name: 'Preview' }).click();
    await dialog().getByText('Use at most 2 digits after the point.').waitFor();
    await expect.poll(() => dialog().getByLabel('money').getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => warning.count()).toBe(0);
    const owner = await panel.owner();
    await owner.post('/api/server/start');
    await warning.waitFor();
    await expectAccessible(page);
    await owner.post('/api/server/stop');
    await warning.waitFor({ state: 'detached' });
  });

  it('do not write over what another has changed meanwhile', async () => {
    await open(only('7'));
    await row('7').click();
    await dialog().getByLabel('money').fill('1');
    const filter = { field: 'id', op: 'eq', value: 7 };
    await panel.api.must('update', { namespace: 'game', table: 'players', filter, set: { name: 'Another' } });
    await dialog().getByRole('button', { name: 'Preview' }).click();
    await dialog().getByText('The row was changed meanwhile.').waitFor();
    expect(await stored('7')).toContain('"money":75');
    await dialog().getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('cell', { name: 'Another' }).waitFor();
  });

  it('let an account that may only look do no more than that', async () => {
    await open(only('7'), reader);
    await row('7', reader).click();
    await dialog(reader).getByText('Another').waitFor();
    await expect.poll(() => dialog(reader).getByRole('textbox').count()).toBe(0);
    await expect.poll(() => dialog(reader).getByRole('button', { name: 'Preview' }).count()).toBe(0);
    await expectAccessible(reader);
    await open('/quarantine', reader);
    await reader.getByText('game.vehicles.mileage').waitFor();
    await expect.poll(() => reader.getByRole('button', { name: 'Remove' }).count()).toBe(0);
  });

  it('try a failed write again and discard another', async () => {
    await open('/queue');
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('1 write will be tried again.').waitFor();
    await page.getByRole('checkbox').last().check();
    await page.getByRole('button', { name: 'Discard' }).click();
    await dialog().getByRole('button', { name: 'Discard' }).click();
    await page.getByText('1 write was discarded.').waitFor();
  });

  it('bring a column back from quarantine', async () => {
    await open('/quarantine');
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('game.vehicles.mileage is back.').waitFor();
    await page.getByText('Nothing is in quarantine').waitFor();
  });

  // The reader's page is a phone's; of the rows the last few are enough to look at.
  for (const place of ['', '/rows/game/players?offset=110', '/queue', '/quarantine', '/slow', '/keys']) {
    it(`have nothing for axe: ${place}`, async () => {
      for (const on of place.includes('rows') ? [page, reader] : [page]) {
        await open(place, on);
        await on.locator('table, .empty').first().waitFor();
        await expectAccessible(on);
      }
    });
  }

  it('have made no page complain', () => expect(browser.complaints).toEqual([]));
});

/** The way of those who have no mouse; fails where the button cannot be reached. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.textContent')) === name) return;
  }
  throw new Error(`no tab leads to ${name}`);
}
