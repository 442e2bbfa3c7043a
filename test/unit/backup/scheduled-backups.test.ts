import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScheduledBackups } from '#sidecar/backup/scheduled-backups.ts';
import { newFolder } from '#support/config-folder.ts';

let folder: string;
beforeEach(() => {
  folder = newFolder();
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a program that answers something else, as one of another version may, ends nothing', async () => {
  const program = join(folder, 'main.mjs');
  writeFileSync(program, 'console.log("done");');
  const lines: object[] = [];
  const backups = ScheduledBackups.start({
    backup: { folder: join(folder, 'backups'), schedule: { kind: 'every', hours: 1 }, keep: 1 },
    configFile: join(folder, 'sidecar.json'),
    program,
    log: (level, message, fields) => lines.push({ level, message, ...fields }),
  });
  await expect
    .poll(() => lines, { timeout: 30_000 })
    .toEqual([
      {
        level: 'error',
        message: expect.stringMatching(/^the backup failed/),
        cause: expect.stringContaining('not valid JSON'),
      },
    ]);
  await backups?.stop();
});
