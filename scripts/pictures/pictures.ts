import type { Page } from 'playwright-core';
import { PASSWORD } from '../../test/panel/support/panel.ts';
import { townArchive } from './town-files.ts';

/** A picture of docs/pictures: brings the page there. */
export interface Picture {
  readonly name: string;
  /** Part after `#/`. */
  readonly path: string;
  readonly height?: number;
  readonly show?: (page: Page) => Promise<unknown>;
  /** After the picture. */
  readonly goOn?: (page: Page) => Promise<unknown>;
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name }).first().waitFor();

/** In this order: later ones show what earlier ones did. */
export const PICTURES: readonly Picture[] = [
  { name: 'overview', path: 'overview', show: (page) => page.getByRole('figure').last().waitFor() },
  {
    name: 'console',
    path: 'console',
    height: 620,
    async show(page) {
      const line = page.getByRole('textbox', { name: 'Command' });
      for (const command of ['bundles', 'say The ferry leaves in five minutes']) {
        await line.fill(command);
        await line.press('Enter');
        await page.getByText(command).last().waitFor();
      }
      await page.getByText('say: The ferry').waitFor();
    },
  },
  {
    name: 'bundles',
    path: 'bundles',
    height: 760,
    show: (page) => page.getByRole('link', { name: 'garage' }).waitFor(),
  },
  {
    name: 'upload',
    path: 'tools/upload',
    height: 980,
    async show(page) {
      const file = { name: 'harbour-1.4.zip', mimeType: 'application/zip', buffer: Buffer.from(townArchive()) };
      await page.getByLabel('ZIP archive').setInputFiles(file);
      await page.getByText('lighthouse').first().waitFor();
    },
    async goOn(page) {
      await page.getByRole('button', { name: 'Install 3 bundles' }).click();
      await page.getByText('Done', { exact: true }).waitFor();
    },
  },
  { name: 'bundle', path: 'bundles/garage', height: 1100, show: (page) => heading(page, 'Tags and autostart') },
  {
    name: 'compare',
    path: 'tools/sources/shop',
    height: 1100,
    async show(page) {
      await page.getByRole('link', { name: 'Compare' }).click();
      await heading(page, 'autumn → main');
      await page.getByText('1 conflict left').waitFor();
    },
  },
  {
    name: 'updates',
    path: 'updates',
    height: 860,
    async show(page) {
      await page.getByRole('button', { name: 'Look for releases' }).click();
      await page.getByText('0.3.0').first().waitFor();
    },
  },
  { name: 'schedule', path: 'settings/schedule', height: 900 },
  { name: 'notices', path: 'settings/notices', height: 640 },
  {
    name: 'second-factor',
    path: 'settings',
    async show(page) {
      await page.getByRole('button', { name: 'Set up' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Password').fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Go on' }).click();
      await dialog.getByRole('img').waitFor();
    },
    goOn: (page) => page.getByRole('button', { name: 'Cancel' }).click(),
  },
  { name: 'tokens', path: 'settings', show: (page) => page.getByText('Status page').scrollIntoViewIfNeeded() },
  {
    name: 'backups',
    path: 'backups',
    height: 760,
    async show(page) {
      await page.getByRole('button', { name: 'Make a backup' }).click();
      await page.getByText('Done', { exact: true }).waitFor();
    },
  },
  {
    name: 'rows',
    path: 'database/rows/game/characters',
    height: 760,
    show: (page) => page.getByText('Zoë Winter').first().waitFor(),
  },
  { name: 'jobs', path: 'tools', height: 560 },
];
