import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ScheduledBackups } from '#sidecar/backup/scheduled-backups.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
  mkdirSync(folder, { recursive: true });
});

it('a program that answers something else, as one of another version may, ends nothing', async () => {
  const program = join(folder, 'main.mjs');
  writeFileSync(program, 'console.log("done");');
  const lines: object[] = [];
  const backups = ScheduledBackups.start({
    backup: {
      ...{ folder: join(folder, 'backups'), schedule: { kind: 'every', hours: 1 }, keep: 1 },
      ...{ remote: null, encryptTo: [], identityFile: null, secrets: false, drill: null, continuous: null },
    },
    dataFolder: folder,
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
