import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { copyIo } from '../support/copy-io.ts';
import { type SidecarOptions, startSidecar, type TestSidecar, writeConfig } from '../support/sidecar.ts';
import { spawnSidecar } from '../support/sidecar-process.ts';
import { SignedClient } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';

/** Queued writes wait until somebody asks for them. */
const WAITING = { flushIntervalMs: 3_600_000, drainOnStopMs: 0, namespaces: { stats: { consistentReads: false } } };
const TABLE = {
  name: 'kills',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'who', type: 'string', nullable: true },
    { name: 'n', type: 'int64', default: 0 },
  ],
};

/** A minute and a second on, where a machine that has no nonces takes requests again. */
const LATER = () => Date.now() + 61_000;

function run(folder: string, options: SidecarOptions = {}): Promise<TestSidecar> {
  return startSidecar({ folder, config: { writeBehind: WAITING }, ...options });
}

async function declare({ client }: TestSidecar, namespace: string): Promise<void> {
  await client.must('schema.sync', { namespace, schema: { tables: [TABLE] } });
}

function insert({ client }: Pick<TestSidecar, 'client'>, namespace: string, who: string, more: object = {}) {
  return client.must('insert', { namespace, table: 'kills', rows: [{ who }], ...more });
}

async function names({ client }: TestSidecar, namespace: string): Promise<string[]> {
  const { rows } = await client.must<{ rows: { who: string }[] }>('find', { namespace, table: 'kills' });
  return rows.map(({ who }) => who);
}

async function backUp(folder: string, ...more: string[]): Promise<string> {
  const { io, lines, errors } = copyIo();
  expect(await runBackup(['--config', join(folder, 'sidecar.json'), '--json', ...more], io)).toBe(true);
  expect(errors).toEqual([]);
  return (JSON.parse(lines.join('')) as { path: string }).path;
}

async function restore(backup: string, folder: string, ...more: string[]): Promise<string[]> {
  const file = join(folder, 'sidecar.json');
  if (!existsSync(file)) writeConfig(folder, { writeBehind: WAITING });
  const { io, lines } = copyIo();
  expect(await runRestore([backup, '--config', file, ...more], io)).toBe(true);
  return lines;
}

async function letters({ client }: TestSidecar): Promise<number> {
  return (await client.must<{ writeBuffer: { deadLetters: number } }>('health')).writeBuffer.deadLetters;
}

it('is made of the files that its page names, and of no others', async () => {
  const here = testFolder();
  const sidecar = await run(here);
  await declare(sidecar, 'game');
  await insert(sidecar, 'game', 'somebody');
  const backup = await backUp(here);
  await sidecar.stop();
  expect(readdirSync(backup).toSorted()).toEqual(['database.sqlite', 'manifest.json', 'sidecar.json', 'waiting.jsonl']);
});

describe('queued writes', () => {
  it('that wait in the journal of a running sidecar are in the backup, and are applied once after a restore', async () => {
    const [here, there] = [testFolder(), testFolder()];
    const sidecar = await run(here);
    await declare(sidecar, 'stats');
    await insert(sidecar, 'stats', 'applied');
    await sidecar.client.must('flush', { namespace: 'stats' });
    for (const who of ['first', 'second']) expect(await insert(sidecar, 'stats', who)).toMatchObject({ queued: true });
    const backup = await backUp(here);
    await insert(sidecar, 'stats', 'after the backup');
    await sidecar.stop();

    expect((await restore(backup, there)).join('\n')).toContain('2 queued writes that waited are in the journal');
    for (let start = 1; start <= 2; start += 1) {
      const restored = await run(there, { now: LATER });
      await restored.client.must('flush', { namespace: 'stats' });
      expect(await names(restored, 'stats')).toEqual(['applied', 'first', 'second']);
      await restored.stop();
    }
  });

  it('that the journal holds beyond the backup become dead letters, and none is applied twice or lost', async () => {
    const here = testFolder();
    const sidecar = await run(here);
    await declare(sidecar, 'stats');
    for (const who of ['one', 'two']) await insert(sidecar, 'stats', who);
    const backup = await backUp(here);
    await insert(sidecar, 'stats', 'three');
    await sidecar.client.must('flush', { namespace: 'stats' });
    await insert(sidecar, 'stats', 'four');
    await sidecar.stop();
    const lines = await restore(backup, here, '--replace');
    expect(lines.join('\n')).toMatch(/stats: 1 queued writes that the journal held before become dead letters/);
    const restored = await run(here);
    await restored.client.must('flush', { namespace: 'stats' });
    expect(await names(restored, 'stats')).toEqual(['one', 'two']);
    await expect.poll(() => letters(restored), { timeout: 30_000 }).toBe(1);
    expect(restored.log.filter(({ level }) => level === 'error').map(({ msg }) => msg)).toEqual([
      expect.stringContaining('acknowledged writes became dead letters'),
    ]);
    await restored.stop();
  });

  it('of a restore that is done twice are applied once', async () => {
    const [here, there] = [testFolder(), testFolder()];
    const sidecar = await run(here);
    await declare(sidecar, 'stats');
    await insert(sidecar, 'stats', 'only');
    const backup = await backUp(here);
    await sidecar.stop();
    await restore(backup, there);
    await restore(backup, there, '--replace');
    const restored = await run(there, { now: LATER });
    await restored.client.must('flush', { namespace: 'stats' });
    expect(await names(restored, 'stats')).toEqual(['only']);
    await restored.stop();
  });
});

describe('after a restore', () => {
  it('no id is given again that was given before it, in the replaced database either', async () => {
    const here = testFolder();
    const sidecar = await run(here);
    await declare(sidecar, 'game');
    await insert(sidecar, 'game', 'a');
    const backup = await backUp(here);
    for (const who of ['b', 'c']) await insert(sidecar, 'game', who);
    await sidecar.stop();
    await restore(backup, here, '--replace');
    const restored = await run(here);
    expect(await names(restored, 'game')).toEqual(['a']);
    expect(await insert(restored, 'game', 'd')).toMatchObject({ ids: [4] });
    await restored.stop();
  });

  it('nothing is accepted that was signed before it, also where time stamps lie ahead', async () => {
    const [here, there] = [testFolder(), testFolder()];
    const sidecar = await run(here);
    await declare(sidecar, 'game');
    const backup = await backUp(here);
    await sidecar.stop();
    const started = Math.floor(Date.now() / 1000);
    await restore(backup, there);
    const restored = await run(there);
    const status = async (ts: number) => {
      const client = new SignedClient({ address: restored.address, secret: restored.secret, now: () => ts * 1000 });
      const answer = await client.call('count', { namespace: 'game', table: 'kills' });
      await client.close();
      return answer.status;
    };
    for (const ts of [started - 10, started, started + 50])
      expect({ ts, status: await status(ts) }).toEqual({ ts, status: 401 });
    await restored.stop();
    const later = await run(there, { now: LATER });
    expect(await names(later, 'game')).toEqual([]);
    await later.stop();
  });
});

describe('a restore is refused, and changes nothing', () => {
  it('into namespaces that hold something, of a backup that is damaged, beside a running sidecar', async () => {
    const here = testFolder();
    const sidecar = await run(here);
    await declare(sidecar, 'game');
    await insert(sidecar, 'game', 'a');
    const backup = await backUp(here);
    await expect(restore(backup, here)).rejects.toThrow(/a sidecar is running with the journal .*: stop it first/);
    await sidecar.stop();
    await expect(restore(backup, here)).rejects.toThrow(/namespace game of the target is not empty \(kills\)/);
    await expect(restore(backup, testFolder(), '--namespace', 'other')).rejects.toThrow(/has no namespace other/);
    appendFileSync(join(backup, 'database.sqlite'), 'x');
    await expect(restore(backup, testFolder())).rejects.toThrow(/is damaged: database\.sqlite is not what was written/);
    rmSync(join(backup, 'manifest.json'));
    await expect(restore(backup, testFolder())).rejects.toThrow(/is no complete backup/);
    const after = await run(here);
    expect(await names(after, 'game')).toEqual(['a']);
    await after.stop();
  });
});

/** False where it had ended before. */
async function killedAt(args: readonly string[], isThere: () => boolean): Promise<boolean> {
  const child = spawn(process.execPath, [SIDECAR_MAIN, ...args], {
    stdio: 'ignore',
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  while (!isThere() && child.exitCode === null) await pause(1);
  child.kill('SIGKILL');
  return (await gone) === null;
}

it('kill -9 in the middle leaves nothing that looks complete, and the next run ends well', {
  timeout: 120_000,
}, async () => {
  const [here, there] = [testFolder(), testFolder()];
  const sidecar = await run(here);
  await declare(sidecar, 'game');
  const rows = Array.from({ length: 1000 }, (_, i) => ({ who: `player ${i}`.padEnd(200, 'x') }));
  for (let i = 0; i < 10; i += 1) await sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows });
  const config = join(here, 'sidecar.json');
  const backups = join(here, 'backups');
  const isThere = (folder: string, name: RegExp) => () =>
    existsSync(folder) && readdirSync(folder, { recursive: true }).some((each) => name.test(String(each)));
  const isKilled = await killedAt(['backup', '--config', config], isThere(backups, /partial.database\.sqlite$/));
  const { io, lines } = copyIo();
  await runBackup(['--list', '--config', config], io);
  if (isKilled) expect(lines).toEqual([`there is no backup in ${backups}`]);
  const backup = await backUp(here);
  await sidecar.stop();

  const target = writeConfig(there, { writeBehind: WAITING });
  const log = join(there, 'data/database.sqlite-wal');
  const hasRows = () => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 1_000_000;
  const isHalf = await killedAt(['restore', backup, '--config', target], hasRows);
  const half = await run(there, { now: LATER });
  const answer = await half.client.call('count', { namespace: 'game', table: 'kills' });
  await half.stop();
  if (isHalf) expect(answer.code).toBe('sync_in_progress');
  await restore(backup, there, ...(isHalf ? [] : ['--replace']));
  const whole = await run(there, { now: LATER });
  expect(await whole.client.must('count', { namespace: 'game', table: 'kills' })).toEqual({ count: 10_000 });
  await whole.stop();
});

/** The command has niceness 10: beside others that compute it takes long to load its program. */
const NICE_MS = 150_000;

describe('the schedule of a running sidecar', { timeout: NICE_MS + 30_000 }, () => {
  it('makes the first one at once, and says so', async () => {
    const here = testFolder();
    const started = await spawnSidecar(here, { backup: { folder: 'kept', everyHours: 1, keep: 2 } });
    await expect
      .poll(() => started.log.find(({ msg }) => msg === 'backup made'), { timeout: NICE_MS })
      .toMatchObject({
        ...{ level: 'info', rows: 0, path: expect.stringContaining(join(here, 'kept', 'backup-')) },
      });
    expect(await started.kill('SIGTERM')).toBe(0);
    expect(readdirSync(join(here, 'kept')).filter((name) => name.startsWith('backup-'))).toHaveLength(1);
  });

  it('tells that one has failed, and serves on', async () => {
    const here = testFolder();
    mkdirSync(here, { recursive: true });
    writeFileSync(join(here, 'kept'), 'a file');
    const started = await spawnSidecar(here, { backup: { folder: 'kept', at: '04:30' } });
    await expect
      .poll(() => started.log.find(({ msg }) => `${msg}`.startsWith('the backup failed')), { timeout: NICE_MS })
      .toMatchObject({
        ...{ level: 'error', cause: expect.stringMatching(/EEXIST|ENOTDIR/) },
      });
    expect(await started.client.must('health')).toMatchObject({ status: 'ok' });
    expect(await started.kill('SIGTERM')).toBe(0);
    expect(readFileSync(join(here, 'kept'), 'utf8')).toBe('a file');
  });
});
