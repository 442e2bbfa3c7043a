import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
/** Shown as it is, to people who are not signed in. */
const NAME = '<img src=x onerror=alert(1)>{{7*7}}';

describeIf(why, 'signing in', () => {
  let panel: TestPanel;
  let browser: TestBrowser;

  beforeAll(async () => {
    panel = await startTestPanel({ settings: { dashboardName: NAME } });
    await panel.owner();
    browser = await TestBrowser.start();
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('names both empty fields at once', async () => {
    const page = await browser.visit(panel.address);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Enter your user name.').waitFor();
    await page.getByText('Enter your password.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.labels?.[0]?.textContent')).toBe('User name');
    await expectAccessible(page);
  });

  it('refuses a wrong password in words, and keeps the name', async () => {
    const page = await browser.visit(panel.address);
    await page.getByText(NAME, { exact: true }).waitFor();
    await page.getByLabel('User name').fill('owner');
    await page.getByLabel('Password').fill('not the password at all');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('User name or password is wrong.').waitFor();
    await expect.poll(() => page.getByLabel('User name').inputValue()).toBe('owner');
    await expect.poll(() => page.getByLabel('Password').inputValue()).toBe('');
    await expectAccessible(page);
  });

  it('leads to Overview, survives a reload, and ends with signing out', async () => {
    const page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(() => page.title()).toBe(`Overview · ${NAME}`);
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('works by keyboard alone', async () => {
    const page = await browser.visit(panel.address);
    await page.getByLabel('User name').focus();
    await page.keyboard.type('owner');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Skip to content' }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('speaks the language that is chosen, and remembers it', async () => {
    const page = await browser.visit(panel.address);
    await page.getByRole('combobox', { name: 'Language' }).selectOption('de');
    await page.getByRole('button', { name: 'Anmelden' }).waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.lang')).toBe('de');
    await page.reload();
    await page.getByRole('button', { name: 'Anmelden' }).waitFor();
  });

  it('says so where the panel does not answer, and goes on when it does', async () => {
    const page = await browser.visit(panel.address);
    await page.route('**/api/session', (route) => route.abort());
    await page.reload();
    await page.getByText('The panel does not answer.').waitFor();
    await page.unroute('**/api/session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('goes on by itself once the panel answers again', async () => {
    const page = await browser.visit(panel.address, { width: 390 });
    await page.route('**/api/session', (route) => route.abort());
    await page.reload();
    await page.getByText('This page tries again every 5 seconds.').waitFor();
    await expectAccessible(page);
    await page.unroute('**/api/session');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('asks no other host, and nothing of it is refused by the policy', () => {
    expect(browser.complaints).toEqual([]);
  });
});
