import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { BackupLease } from '#sidecar/backup/backup-lease.ts';
import { ScheduledBackups } from '#sidecar/backup/scheduled-backups.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
const engines: Engine[] = [];
beforeEach(() => {
  folder = testFolder();
  mkdirSync(folder, { recursive: true });
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

/** A sidecar of the database of the folder. */
async function sidecar(instance: string): Promise<Engine> {
  const settings = { provider: 'sqlite', file: join(folder, 'database.sqlite'), poolSize: 2 } as const;
  const engine = await openEngine(settings, { log: () => {}, now: Date.now, instance: () => instance });
  engines.push(engine);
  return engine;
}

function start(program: string, own: string, engine: Engine, lines: object[]): ScheduledBackups | null {
  return ScheduledBackups.start({
    backup: {
      ...{ folder: join(folder, own), schedule: { kind: 'every', hours: 1 }, keep: 1 },
      ...{ remote: null, encryptTo: [], identityFile: null, secrets: false, drill: null, continuous: null },
    },
    dataFolder: folder,
    configFile: join(folder, 'sidecar.json'),
    program,
    lease: new BackupLease(engine),
    log: (level, message, fields) => lines.push({ level, message, ...fields }),
  });
}

it('a program that answers something else, as one of another version may, ends nothing', async () => {
  const program = join(folder, 'main.mjs');
  writeFileSync(program, 'console.log("done");');
  const lines: object[] = [];
  const backups = start(program, 'backups', await sidecar('one'), lines);
  await expect
    .poll(() => lines, { timeout: 50_000 })
    .toEqual([
      {
        level: 'error',
        event: 'backup-failed',
        message: expect.stringMatching(/^the backup failed/),
        cause: expect.stringContaining('not valid JSON'),
      },
    ]);
  await backups?.stop();
});

it('of several sidecars one makes the backup, and the others say who', async () => {
  const program = join(folder, 'main.mjs');
  const made = { path: 'p', rows: 1, bytes: 1, removed: [], remote: null };
  writeFileSync(program, `console.log('${JSON.stringify(made)}');`);
  const lines: object[] = [];
  const one = await sidecar('one');
  const first = start(program, 'first', one, lines);
  await expect.poll(() => lines, { timeout: 50_000 }).toMatchObject([{ message: 'backup made' }]);
  const isGivenBack = async () => !(await one.leases.isHeld('backup', { deadline: performance.now() + 5000 }));
  await expect.poll(isGivenBack, { timeout: 10_000 }).toBe(true);
  const second = start(program, 'second', await sidecar('two'), lines);
  await expect
    .poll(() => lines[1], { timeout: 50_000 })
    .toMatchObject({
      message: 'another sidecar of the database made the backup of this time',
      box: hostname(),
      madeAt: expect.any(String),
    });
  // It would stand in the place of the line's own time.
  expect(lines[1]).not.toHaveProperty('time');
  // A sidecar whose own backup is gone makes another one.
  const again = start(program, 'third', await sidecar('one'), lines);
  await expect.poll(() => lines[2], { timeout: 30_000 }).toMatchObject({ message: 'backup made' });
  await Promise.all([first?.stop(), second?.stop(), again?.stop()]);
});
