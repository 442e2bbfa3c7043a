import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, type Page, shownValue, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { type LivedInPanel, startLivedInPanel } from '../support/lived-in-panel.ts';
import { PASSWORD } from '../support/panel.ts';

const why = await whyNoBrowser();

describeIf(why, 'accounts in the browser', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: LivedInPanel;
  let browser: TestBrowser;
  /** Manages accounts. */
  let page: Page;
  let friend: Page;

  beforeAll(async () => {
    panel = await startLivedInPanel();
    await panel.owner();
    await panel.account('helper', ['users.manage', 'console.read']);
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
    await page.goto(`${panel.address}/#/accounts`);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  const dialog = (on = page) => on.getByRole('dialog');
  const row = (name: string, on = page) => on.getByRole('row').filter({ has: on.getByRole('rowheader', { name }) });
  const links = (on: Page) => on.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();

  it('are refused in words: a name that is taken, a short password', async () => {
    await page.getByRole('button', { name: 'New account' }).click();
    await dialog().getByLabel('User name').fill('helper');
    await dialog().getByLabel('Password').fill('short');
    await dialog().getByRole('button', { name: 'Create account' }).click();
    await dialog().getByText('A password has 12 to 256 characters.').waitFor();
    await dialog().getByLabel('Password').fill(PASSWORD);
    await dialog().getByRole('button', { name: 'Create account' }).click();
    await dialog().getByText('There is an account of this name already.').waitFor();
    await expectAccessible(page);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => row('helper').getByText('2 permissions').count()).toBe(1);
  });

  it('are made from a preset with a suggested password, and open exactly what they may see', async () => {
    await page.getByRole('button', { name: 'New account' }).click();
    await dialog().getByLabel('User name').fill('friend');
    await dialog().getByRole('button', { name: 'Suggest one' }).click();
    const password = await shownValue(dialog().getByLabel('Password'));
    await dialog().getByRole('button', { name: 'Developer' }).click();
    await dialog().getByLabel('Restart the server').uncheck();
    await dialog().getByText('10 permissions').waitFor();
    await dialog().getByRole('button', { name: 'Create account' }).click();
    await page.getByText('The account friend is saved.').waitFor();

    await row('friend').getByRole('button', { name: 'What it sees' }).click();
    await dialog().getByText('Look into the database').waitFor();
    await expect.poll(() => dialog().getByText('Manage accounts').count()).toBe(0);
    await expectAccessible(page);
    await page.keyboard.press('Escape');

    friend = await browser.visit(panel.address);
    await signIn(friend, 'friend', password);
    await expect.poll(() => links(friend)).toEqual(['Overview', 'Console', 'Bundles', 'Logs', 'Database', 'Settings']);
  });

  it('lose a permission while they look at the page of it, and get it back', async () => {
    await friend.goto(`${panel.address}/#/database`);
    await friend.getByRole('link', { name: 'players' }).waitFor();
    await row('friend').getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Look into the database').uncheck();
    await dialog().getByRole('button', { name: 'Save' }).click();

    await friend.getByText('Your account has no permission for this page.').waitFor();
    await expect.poll(() => friend.getByRole('link', { name: 'players' }).count()).toBe(0);
    expect(await links(friend)).not.toContain('Database');
    await expectAccessible(friend);

    // A dialog that is opened before the list is read again shows the permissions of before.
    await row('friend').getByText('9 permissions').waitFor();
    await row('friend').getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Look into the database').check();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await friend.getByRole('link', { name: 'players' }).waitFor();
  });

  it('are changed by keyboard alone', async () => {
    await row('friend').getByText('10 permissions').waitFor();
    await dialog().waitFor({ state: 'detached' });
    await row('friend').getByRole('button', { name: 'Edit' }).focus();
    await page.keyboard.press('Enter');
    await dialog().getByLabel('Change the database').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByText('The account friend is saved.').waitFor();
    await dialog().waitFor({ state: 'detached' });
    await row('friend').getByText('11 permissions').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Edit');
  });

  it('cannot be changed by somebody who lacks what they hold, nor given what is lacking', async () => {
    const helper = await browser.visit(panel.address, { width: 390, theme: 'dark' });
    await signIn(helper, 'helper', PASSWORD);
    await helper.goto(`${panel.address}/#/accounts`);
    await row('owner', helper).waitFor();
    await expect.poll(() => row('owner', helper).getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await row('helper', helper).getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => dialog(helper).getByLabel('Change settings', { exact: true }).isDisabled()).toBe(true);
    await dialog(helper).getByRole('button', { name: 'Owner' }).click();
    await dialog(helper).getByText('2 permissions').waitFor();
    await expectAccessible(helper);
  });

  it('are signed out where they stand when they are deleted', async () => {
    await row('friend').getByRole('button', { name: 'Delete' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The account friend is gone.').waitFor();
    await friend.getByText('Your account was changed, so you were signed out.').waitFor();
  });

  it('stay where they are the last that manages accounts', async () => {
    await row('helper').getByRole('button', { name: 'Delete' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The account helper is gone.').waitFor();
    await row('owner').getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Can sign in').uncheck();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByRole('alert').getByText('This is the last account that manages accounts').waitFor();
    await page.keyboard.press('Escape');
    await row('owner').getByText('Enabled').waitFor();
  });

  it('leave in the audit log what was done, and what was refused', async () => {
    await page.goto(`${panel.address}/#/accounts/audit`);
    await page.getByLabel('Search').fill('friend');
    const entry = (text: string) => page.getByRole('row').filter({ hasText: text });
    await entry('Delete account').getByText('Done').waitFor();
    await entry('+ Change the database').first().waitFor();
    await page.getByLabel('Search').fill('exists');
    await entry('Save account').getByText('There is an account of this name already.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Who').selectOption('owner');
    await entry('Delete account').first().waitFor();
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByText('No entry fits the search').waitFor();
  });

  it('have made no page complain', () => expect(browser.complaints).toEqual([]));
});
