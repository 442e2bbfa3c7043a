import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runBackup } from '#sidecar/commands/backup.ts';
import { copyIo } from '../support/copy-io.ts';
import { KILLS } from '../support/kills-table.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** Restores of a sidecar that serves meanwhile: its functions for the panel. */

const NEVER = new AbortController().signal;
/** Queued writes wait until somebody asks for them. */
const WAITING = { flushIntervalMs: 3_600_000, drainOnStopMs: 0, namespaces: { stats: { consistentReads: false } } };

let [folder, disk] = ['', ''];
let sidecar: TestSidecar;

beforeEach(async () => {
  [folder, disk] = [testFolder(), join(testFolder(), 'disk')];
  mkdirSync(disk);
  sidecar = await start();
  for (const namespace of ['game', 'stats']) {
    await sidecar.client.must('schema.sync', { namespace, schema: { tables: [KILLS] } });
    await insert(namespace, 'before');
  }
});
afterEach(() => sidecar.stop());

function start(): Promise<TestSidecar> {
  const backup = { remote: { type: 'folder', path: disk } };
  return startSidecar({ folder, config: { writeBehind: WAITING, backup } });
}

function insert(namespace: string, who: string) {
  return sidecar.client.must('insert', { namespace, table: 'kills', rows: [{ who }] });
}

async function names(namespace: string): Promise<string[]> {
  await sidecar.client.must('flush', { namespace });
  const found = await sidecar.client.must<{ rows: { who: string }[] }>('find', { namespace, table: 'kills' });
  return found.rows.map(({ who }) => who);
}

/** Names of the backup, here and off the machine. */
async function backUp(...args: string[]): Promise<{ local: string; remote: string }> {
  const { io, lines } = copyIo();
  expect(await runBackup([...args, '--config', sidecar.configFile, '--json'], io)).toBe(true);
  const { path, remote } = JSON.parse(lines.join('')) as { path: string; remote: { object: string } };
  return { local: path.split('/').at(-1) ?? '', remote: remote.object };
}

const wish = (name: string, more: object = {}) => ({
  ...{
    name,
    where: 'local' as const,
    namespace: null,
    as: null,
    before: async () => {},
    isResumed: false,
    report: copyIo().io.report,
    signal: NEVER,
  },
  ...more,
});

it('lists both places, counts then and now, and restores over rows and queued writes', async () => {
  const { local, remote } = await backUp();
  await insert('game', 'after');
  await insert('stats', 'queued after');
  const { backups, drill, remote: state } = await sidecar.backups.list(NEVER);
  const shown = { namespaces: ['game', 'stats'], rows: 1 };
  expect(backups).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...shown, name: local, where: 'local' }),
      expect.objectContaining({ ...shown, name: remote, where: 'remote' }),
    ]),
  );
  expect([drill, state]).toEqual([null, { reachable: true, error: null }]);
  for (const choice of [
    { name: local, where: 'local' },
    { name: remote, where: 'remote' },
  ] as const) {
    expect(await sidecar.backups.preview({ ...choice, namespace: 'game' }, NEVER)).toEqual([
      { namespace: 'game', table: 'kills', rowsThen: 1, rowsNow: 2 },
    ]);
  }
  await sidecar.backups.restore(wish(local));
  // The write that waited then is applied once; the later one was applied before the restore, and is gone with it.
  expect([await names('game'), await names('stats')]).toEqual([['before'], ['before']]);
  for (const namespace of ['game', 'stats']) await insert(namespace, 'goes on');
  expect([await names('game'), await names('stats')]).toEqual([
    ['before', 'goes on'],
    ['before', 'goes on'],
  ]);
  expect(await sidecar.client.must('health')).toMatchObject({ backup: { drillFailed: false } });
  await sidecar.stop();
  sidecar = await start();
  expect(await sidecar.client.must('health')).toMatchObject({
    backup: { ageSeconds: expect.any(Number), sentAgeSeconds: expect.any(Number), drillFailed: false },
  });
  expect(await names('stats')).toEqual(['before', 'goes on']);
  expect(sidecar.log.filter(({ level }) => level === 'error')).toEqual([]);
});

it('the way back is made when the backup is here, immediately before the database is changed', async () => {
  const { remote } = await backUp();
  await insert('game', 'during the download');
  let held: string[] = [];
  const before = async (): Promise<void> => {
    const [scratch = ''] = readdirSync(join(folder, 'data/opened-backup'));
    expect(readdirSync(join(folder, 'data/opened-backup', scratch))).toEqual([expect.stringMatching(/Z$/)]);
    held = await names('game');
    // Nothing is closed, the folder of the backups is free, and the newest of the day does not replace the restored one.
    await backUp('--keep-all');
  };
  await sidecar.backups.restore(wish(remote, { where: 'remote', before }));
  expect([held, await names('game')]).toEqual([['before', 'during the download'], ['before']]);
  const fails = () => Promise.reject(new Error('the disk is full'));
  await insert('game', 'later');
  await expect(sidecar.backups.restore(wish(remote, { where: 'remote', before: fails }))).rejects.toThrow('full');
  expect(await names('game')).toEqual(['before', 'later']);
});

it('one namespace comes under a new name beside the old one, from the other place', async () => {
  const { remote } = await backUp();
  await insert('game', 'after');
  await sidecar.backups.restore(wish(remote, { where: 'remote', namespace: 'game', as: 'night' }));
  expect([await names('night'), await names('game')]).toEqual([['before'], ['before', 'after']]);
  const again = sidecar.backups.restore(wish(remote, { where: 'remote', namespace: 'game', as: 'night' }));
  await expect(again).rejects.toThrow('namespace night of the target is not empty');
  expect(readdirSync(join(folder, 'data/opened-backup'))).toEqual([]);
});

it('a call meets the rows of before or after a restore, or 409, and other namespaces go on', async () => {
  const { local } = await backUp();
  await insert('game', 'after');
  const run = copyIo();
  const seen: Promise<unknown>[] = [];
  run.onBegin(() => {
    if (seen.length === 0)
      seen.push(sidecar.client.call('find', { namespace: 'game', table: 'kills' }), names('stats'));
  });
  await sidecar.backups.restore(wish(local, { namespace: 'game', report: run.io.report }));
  const [answer, others] = await Promise.all(seen);
  const { code = null, result = null } = answer as { code?: string; result?: { rows: { who: string }[] } };
  expect(code === 'sync_in_progress' || result?.rows.map(({ who }) => who).join() === 'before').toBe(true);
  expect([others, await names('game')]).toEqual([['before'], ['before']]);
});

/** Whichever comes first: it cannot be unpacked, or it is not what was sent. */
const NO_BACKUP = /is damaged|is not what this installation has sent/;

it('what is not there, or cannot be used, is refused before anything is changed', async () => {
  const { local, remote } = await backUp();
  for (const name of ['backup-2020-01-01T00-00-00Z', '../../etc']) {
    await expect(sidecar.backups.restore(wish(name))).rejects.toThrow('there is no backup');
  }
  await expect(sidecar.backups.restore(wish(local, { namespace: 'nothing' }))).rejects.toThrow('no namespace nothing');
  await expect(sidecar.backups.restore(wish(local, { as: 'two' }))).rejects.toThrow('one namespace alone');
  writeFileSync(join(disk, remote), 'no backup');
  await expect(sidecar.backups.restore(wish(remote, { where: 'remote' }))).rejects.toThrow(NO_BACKUP);
  expect([await names('game'), await names('stats')]).toEqual([['before'], ['before']]);
});
