import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { SYSTEM_CLOCK } from '#sidecar/write-behind/journal/clock.ts';
import { NODE_DISK } from '#sidecar/write-behind/journal/disk.ts';
import { Journal } from '#sidecar/write-behind/journal/journal.ts';
import { findJournalId, makeJournalId } from '#sidecar/write-behind/journal/state-file.ts';
import { testFolder } from '#support/test-folder.ts';
import { appendAll, payloadsOf } from './journal-world.ts';

let base: string;

beforeAll(async () => {
  base = testFolder();
});

function open(folder: string) {
  return Journal.open({ folder, disk: NODE_DISK, clock: SYSTEM_CLOCK, log: () => {}, segmentBytes: 64 * 1024 });
}

/** Opens the journal in another process, which says so, and then only waits. */
const HOLDER = `
  const { Journal } = await import(process.argv[1] + 'journal.ts');
  const { NODE_DISK: disk } = await import(process.argv[1] + 'disk.ts');
  const { SYSTEM_CLOCK: clock } = await import(process.argv[1] + 'clock.ts');
  await Journal.open({ folder: process.argv[2], disk, clock, log: () => {} });
  console.log('open');
  setInterval(() => {}, 1000);
`;

test('what is acknowledged is read back by the next process, in files for the owner only', async () => {
  const folder = join(base, 'deep', 'journal');
  const { journal } = await open(folder);
  const payloads = Array.from({ length: 500 }, (_, number) => `entry ${number} ${'ü'.repeat(number)}`);
  await appendAll(journal, payloads);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await journal.close();
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  const opened = await open(folder);
  expect(await payloadsOf(opened)).toEqual(payloads);
  await opened.journal.close();
});

test('a second process is kept out until the first one is gone, even by kill -9', async () => {
  const folder = join(base, 'shared');
  const journalFolder = new URL('../../../sidecar/write-behind/journal/', import.meta.url).href;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, journalFolder, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  await expect(open(folder)).rejects.toThrow(
    `a sidecar already runs with this configuration; stop it first (it uses the journal ${folder})`,
  );
  expect(await makeJournalId(folder)).toBe(await findJournalId(folder));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const { journal } = await open(folder);
  await journal.close();
});

test('the id of a journal is found beside it, and made where none is', async () => {
  const folder = join(base, 'fresh');
  expect(await findJournalId(folder)).toBeNull();
  const id = await makeJournalId(folder);
  expect(id).toMatch(/^[a-z2-7]{10}$/);
  expect(await makeJournalId(folder)).toBe(id);
  const { journal } = await open(folder);
  expect(journal.id).toBe(id);
  await rm(join(folder, 'state.json'));
  expect(await findJournalId(folder)).toBe(id);
  await journal.close();
});
