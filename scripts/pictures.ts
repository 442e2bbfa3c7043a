// Makes the pictures of docs/pictures again: a real panel of a small town, seen with Debian's Chromium.
// Arguments: names of pictures, such as `overview`; none for all.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { PASSWORD } from '../test/panel/support/panel.ts';
import { removeTestFolders } from '../test/support/test-folder.ts';
import { startFerry } from './pictures/ferry.ts';
import { openBrowser, openPage, takePicture } from './pictures/picture-browser.ts';
import { PICTURES } from './pictures/pictures.ts';
import { startTown } from './pictures/town.ts';

const FOLDER = fileURLToPath(new URL('../docs/pictures', import.meta.url));
const wanted = process.argv.slice(2);

const town = await startTown();
const ferry = await startFerry();
const browser = await openBrowser();
try {
  const page = await signedIn(town.panel.address);
  for (const { name, path, height, show, goOn } of PICTURES) {
    await page.goto(`${town.panel.address}/#/overview`);
    await page.goto(`${town.panel.address}/#/${path}`);
    await show?.(page);
    if (wanted.length === 0 || wanted.includes(name)) await take(page, name, height);
    await goOn?.(page);
  }
  if (wanted.length === 0 || wanted.includes('players')) {
    const players = await signedIn(ferry.panel.address);
    await players.goto(`${ferry.panel.address}/#/players`);
    await players.getByText('Zoë Winter').waitFor();
    await take(players, 'players', 620);
  }
} finally {
  await browser.close();
  await ferry.stop();
  await town.stop();
  removeTestFolders();
}

async function take(page: Page, name: string, height: number | undefined): Promise<void> {
  // Drawings and moves of the page have no end that a page tells.
  await page.waitForTimeout(800);
  const bytes = await takePicture(page, join(FOLDER, `${name}.webp`), height);
  console.log(`${name}.webp ${(bytes / 1024).toFixed(1)} KiB`);
}

async function signedIn(address: string): Promise<Page> {
  const page = await openPage(browser, address);
  page.setDefaultTimeout(60_000);
  await page.getByLabel('User name').fill('owner');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  return page;
}
