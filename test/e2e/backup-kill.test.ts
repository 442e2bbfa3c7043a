import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { newIdentity } from '#sidecar/backup/remote/identity.ts';
import { type Preload, withPreload } from '#support/preloads.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { writeConfig } from '../support/config-folder.ts';
import { KILLS } from '../support/kills-table.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** Backup and restore are killed at their steps. The same command then does all of it, and nothing half is ever taken for whole. */

/** Ten processes of a low priority, and leases of killed ones. */
const SLOW_MS = 600_000;
const NAMES = Array.from({ length: 40 }, (_, i) => `name ${i}`);

const [here, disk, keys] = [testFolder(), testFolder(), testFolder()];
const killFile = join(keys, 'kill');

interface End {
  readonly isKilled: boolean;
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command of the program. `killAt`: the moment at which it is killed; null to let it end. */
async function run(
  args: readonly string[],
  preload: Preload,
  killAt: number | null,
  more: Readonly<Record<string, string>> = {},
): Promise<End> {
  rmSync(`${killFile}.seen`, { force: true });
  writeFileSync(killFile, String(killAt ?? 0));
  const env = { ...process.env, NODE_OPTIONS: withPreload(preload), KILL_FILE: killFile, KILL_PATHS: '/', ...more };
  const child = spawn(process.execPath, [SIDECAR_MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const { promise, resolve } = Promise.withResolvers<End>();
  child.once('close', (code, signal) => resolve({ isKilled: signal === 'SIGKILL', code, output }));
  return promise;
}

/** Moments of the run before. */
function moments(): number {
  return existsSync(`${killFile}.seen`) ? readFileSync(`${killFile}.seen`, 'utf8').trim().split('\n').length : 0;
}

const backUp = (killAt: number | null) =>
  run(['backup', '--config', join(here, 'sidecar.json')], 'kill-at-rename', killAt);

beforeAll(async () => {
  const { identity, recipient } = await newIdentity();
  writeFileSync(join(keys, 'identity'), identity);
  const backup = { remote: { type: 'folder', path: disk }, encryptTo: [recipient], secrets: true, keep: 1 };
  const sidecar = await startSidecar({ folder: here, config: { backup } });
  for (const namespace of ['game', 'town']) {
    await sidecar.client.must('schema.sync', { namespace, schema: { tables: [KILLS] } });
    await sidecar.client.must('insert', { namespace, table: 'kills', rows: NAMES.map((who) => ({ who })) });
  }
  await sidecar.stop();
});

it('a backup that is killed at any rename leaves what was there, and the next one is whole', {
  timeout: SLOW_MS,
}, async () => {
  expect(await backUp(null)).toMatchObject({ code: 0 });
  const steps = moments();
  // The local backup, the object and the index, each before and after.
  expect(steps).toBe(6);
  for (let step = 1; step <= steps; step += 1) {
    expect((await backUp(step)).isKilled).toBe(true);
    const whole = readdirSync(disk).filter((name) => name.endsWith('.age'));
    expect(whole.length).toBeGreaterThan(0);
  }
  expect(await backUp(null)).toMatchObject({ code: 0 });
  expect(readdirSync(disk)).toHaveLength(1);
  const drill = ['backup', 'drill', '--identity', join(keys, 'identity'), '--config', join(here, 'sidecar.json')];
  expect((await run(drill, 'kill-at-rename', null)).output).toContain('all 80 rows are there');
});

it('a restore that is killed goes on with the same command, as often as it takes', { timeout: SLOW_MS }, async () => {
  if (readdirSync(disk).length === 0) await backUp(null);
  const there = testFolder();
  mkdirSync(join(there, 'data'));
  const file = join(there, 'sidecar.json');
  writeFileSync(file, JSON.stringify({ backup: { remote: { type: 'folder', path: disk } } }), { mode: 0o600 });
  const restore = ['restore', '--from', 'folder', '--latest', '--identity', join(keys, 'identity'), '--config', file];
  const ends: boolean[] = [];
  // Two moments of each rename, then some of the many statements; further on each time, as the work before is done.
  for (const [preload, step] of [
    ...[1, 2].map((at) => ['kill-at-rename', at] as const),
    ...[3, 9, 20, 33, 47].map((at) => ['kill-at-statement', at] as const),
    ...[1, 2].map((at) => ['kill-at-rename', at] as const),
  ]) {
    ends.push((await run(restore, preload, step)).isKilled);
    if (!existsSync(join(there, 'data/recovery'))) break;
  }
  expect(ends.filter(Boolean).length).toBeGreaterThan(6);
  const last = await run(restore, 'kill-at-rename', null);
  expect(last.output).toContain('restored; start the sidecar');
  expect(readdirSync(join(there, 'data')).filter((name) => /recovery|restore-/.test(name))).toEqual([]);
  const sidecar = await startSidecar({ folder: there, now: () => Date.now() + 61_000 });
  for (const namespace of ['game', 'town']) {
    const { rows } = await sidecar.client.must<{ rows: { who: string }[] }>('find', { namespace, table: 'kills' });
    expect(rows.map(({ who }) => who)).toEqual(NAMES);
  }
  await sidecar.stop();
});

it('a restore that is killed while it opens namespaces goes on, and replaces nothing that was written since', async () => {
  if (readdirSync(disk).length === 0) await backUp(null);
  const [backup = ''] = readdirSync(join(here, 'backups'));
  const there = testFolder();
  mkdirSync(join(there, 'data'));
  const file = writeConfig(there);
  const restore = ['restore', join(here, 'backups', backup), '--config', file];
  // The first is open, and the second is closed.
  expect((await run(restore, 'kill-at-opening', null, { KILL_MARK: 'move:game' })).isKilled).toBe(true);
  const sidecar = await startSidecar({ folder: there, now: () => Date.now() + 61_000 });
  const rows = [{ who: 'later' }];
  await sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows });
  expect(await sidecar.client.call('find', { namespace: 'town', table: 'kills' })).toMatchObject({
    code: 'sync_in_progress',
  });
  await sidecar.stop();
  // Killed once more, when all are open.
  expect((await run(restore, 'kill-at-opening', null, { KILL_MARK: 'move:town' })).isKilled).toBe(true);
  expect(await run(restore, 'kill-at-rename', null)).toMatchObject({
    code: 0,
    output: expect.stringContaining('goes on'),
  });
  const again = await startSidecar({ folder: there, now: () => Date.now() + 61_000 });
  const count = async (namespace: string) =>
    (await again.client.must<{ rows: object[] }>('find', { namespace, table: 'kills' })).rows.length;
  expect([await count('game'), await count('town')]).toEqual([NAMES.length + 1, NAMES.length]);
  await again.stop();
  // Ended for good: now it is a restore over the rows of others.
  expect((await run(restore, 'kill-at-rename', null)).output).toContain('namespace game of the target is not empty');
});
