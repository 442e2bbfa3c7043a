import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { provideAge, provideZstd } from '#scripts/servers/debian-program.ts';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { KILLS } from '../support/kills-table.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** From a machine that plays to an empty one, by way of a folder on another disk. */

const LATER = () => Date.now() + 61_000;

let age: readonly string[];
let zstd: readonly string[];
let [here, there, disk] = ['', '', ''];

beforeAll(async () => {
  const say = () => undefined;
  [age, zstd] = [await provideAge(say), await provideZstd(say)];
});

beforeEach(() => {
  [here, there, disk] = [testFolder(), testFolder(), join(testFolder(), 'disk')];
  mkdirSync(disk);
});

async function play(names: readonly string[], backup: object): Promise<TestSidecar> {
  const sidecar = await startSidecar({
    folder: here,
    config: { backup: { remote: { type: 'folder', path: disk }, ...backup } },
  });
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [KILLS] } });
  await sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows: names.map((who) => ({ who })) });
  return sidecar;
}

async function namesOf({ client }: TestSidecar): Promise<string[]> {
  const { rows } = await client.must<{ rows: { who: string }[] }>('find', { namespace: 'game', table: 'kills' });
  return rows.map(({ who }) => who);
}

/** Result of `backup --json`, and its lines of errors. */
async function backUp(...args: string[]) {
  const { io, lines, errors } = copyIo();
  const isDone = await runBackup([...args, '--config', join(here, 'sidecar.json'), '--json'], io);
  return {
    isDone,
    errors,
    ...(JSON.parse(lines.join('')) as {
      path: string;
      remote: { object: string; sha256: string; error: string; deleted: string[] };
    }),
  };
}

async function keygen(): Promise<{ identity: string; recipient: string }> {
  const { io, lines } = copyIo();
  await runBackup(['keygen', '--json'], io);
  return JSON.parse(lines.join('')) as { identity: string; recipient: string };
}

function configFor(more: object = {}): string {
  const file = join(there, 'sidecar.json');
  writeFileSync(file, JSON.stringify({ backup: { remote: { type: 'folder', path: disk } }, ...more }), { mode: 0o600 });
  return file;
}

async function restore(...args: string[]): Promise<string> {
  const { io, lines } = copyIo();
  expect(await runRestore(['--from', 'folder', ...args, '--config', join(there, 'sidecar.json')], io)).toBe(true);
  return lines.join('\n');
}

function pipe(input: Buffer, [program, ...args]: readonly string[]): Buffer {
  const { status, stdout, stderr } = spawnSync(`${program}`, args, { input, maxBuffer: 2 ** 28 });
  expect({ status, stderr: stderr.toString() }).toMatchObject({ status: 0 });
  return stdout;
}

it('an empty machine plays again, from one object and one identity', async () => {
  const { identity, recipient } = await keygen();
  const sidecar = await play(['ann', 'bob'], { encryptTo: [recipient], secrets: true });
  panelWith({ startLine: '"/srv/run it"', autoStartServer: true }).close();
  const { remote } = await backUp();
  await sidecar.stop();
  const sent = readFileSync(join(disk, remote.object));
  expect(createHash('sha256').update(sent).digest('hex')).toBe(remote.sha256);
  expect(remote.object).toMatch(/^backup-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[a-z2-7]{8}\.tar\.zst\.age$/);
  expect(sent.includes('bob') || sent.includes('secret-of-local')).toBe(false);
  rmSync(here, { recursive: true });

  configFor({ api: { port: 0 }, panel: { enabled: false } });
  writeFileSync(join(there, 'identity.txt'), `# kept elsewhere\n${identity}\n`);
  await expect(restore('--latest')).rejects.toThrow('--identity');
  const told = await restore('--latest', '--identity', join(there, 'identity.txt'));
  expect(told).toContain('restored; start the sidecar');
  expect(told).not.toContain('is new');
  expect(told).toContain('these may manage it: boss');
  expect(told).toContain(`held back: the panel does not start the game server; its start line was "\\"/srv/run it\\""`);
  const written = JSON.parse(readFileSync(join(there, 'sidecar.json'), 'utf8'));
  expect(written).toMatchObject({
    backup: { encryptTo: [recipient] },
    keys: [{ kid: 'local', secret: sidecar.secret }],
  });
  expect(existsSync(join(there, 'data/recovery'))).toBe(false);
  const restored = new Sqlite(join(there, 'data/panel.sqlite'), { readonly: true });
  expect(restored.prepare('SELECT username FROM accounts').pluck().all()).toEqual(['ann', 'boss']);
  expect(restored.prepare('SELECT id FROM sessions').all()).toEqual([]);
  restored.close();
  const again = await startSidecar({ folder: there, now: LATER });
  expect(await namesOf(again)).toEqual(['ann', 'bob']);
  await again.stop();
});

/** The panel's file of the machine that plays. */
function panelWith(settings: object): PanelStore {
  const panel = openPanelStore(join(here, 'data/panel.sqlite'));
  const account = panel.prepare('INSERT INTO accounts (username, password, permissions, enabled) VALUES (?, ?, ?, 1)');
  account.run('boss', 'hash', '["users.manage"]');
  account.run('ann', 'hash', '["console.read"]');
  panel.prepare('INSERT INTO sessions (token_hash, account_id, expires_at) VALUES (?, 1, 1)').run(Buffer.from('token'));
  const setting = panel.prepare('INSERT INTO settings (name, value) VALUES (?, ?)');
  for (const [name, value] of Object.entries(settings)) setting.run(name, JSON.stringify(value));
  return panel;
}

/** The restored file, as a panel with automatic starts by default reads it. */
function restoredPanel() {
  const store = openPanelStore(join(there, 'data/panel.sqlite'));
  const { values } = new PanelSettings(store, { autoStartServer: true });
  const recordsOf = (table: string) =>
    (store.prepare(`SELECT record FROM ${table} ORDER BY id`).pluck().all() as string[]).map((text) =>
      JSON.parse(text),
    );
  const [notices, planned, jobs] = [recordsOf('notice_targets'), recordsOf('schedule_entries'), recordsOf('jobs')];
  store.close();
  return { values, notices, planned, jobs };
}

const EVIL = { startLine: '/tmp/evil', autoStartServer: true, dashboardName: 'Town' };
const NOTICES = [
  { name: 'post', kind: 'discord', enabled: true, line: '' },
  // The panel reads the last one.
  '{"name":"run","kind":"discord","kind":"command","enabled":true,"line":"/tmp/evil notice"}',
];
const PLANNED = [
  { name: 'morning', action: 'start', enabled: true },
  { name: 'night', action: 'restart', enabled: true },
];

it.each([false, true])('the panel runs nothing by itself (kept by the flag: %s)', async (isKept) => {
  await (await play(['ann'], {})).stop();
  const panel = panelWith(EVIL);
  const insert = (table: string, columns: string, id: number, record: object | string) =>
    panel
      .prepare(`INSERT INTO ${table} (id, record${columns}`)
      .run(`${id}`, typeof record === 'string' ? record : JSON.stringify(record));
  for (const [id, one] of NOTICES.entries()) insert('notice_targets', ", secrets) VALUES (?, ?, x'00')", id, one);
  for (const [id, one] of PLANNED.entries()) insert('schedule_entries', ') VALUES (?, ?)', id, one);
  insert('jobs', ', queued_at, is_ended) VALUES (?, ?, 1, 0)', 1, { kind: 'projects.build' });
  panel.close();
  await backUp();
  configFor({ panel: { enabled: false } });
  const told = (await restore('--latest', ...(isKept ? ['--keep-start-line'] : []))).split('\n');
  const { values, notices, planned, jobs } = restoredPanel();
  expect(values).toMatchObject({
    ...{ startLine: isKept ? '/tmp/evil' : '', autoStartServer: isKept, dashboardName: 'Town' },
  });
  expect(notices).toMatchObject([{ enabled: true }, { kind: 'command', enabled: isKept }]);
  expect(planned).toMatchObject([{ enabled: isKept }, { enabled: true }]);
  expect(jobs).toEqual([]);
  expect(told.filter((line) => line.startsWith('held back: '))).toEqual(
    isKept
      ? []
      : [
          expect.stringContaining('its start line was "/tmp/evil"'),
          expect.stringContaining('its program was "/tmp/evil notice"'),
          expect.stringContaining('the planned start "morning"'),
        ],
  );
});

/** Files of panels that no panel has written. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  'a trigger brings the start line back': [
    `CREATE TABLE settings (name TEXT, value TEXT); INSERT INTO settings VALUES ('startLine', '"/tmp/evil"')`,
    `CREATE TRIGGER t AFTER DELETE ON settings BEGIN INSERT INTO settings VALUES ('startLine', '"/tmp/evil"'); END`,
    `CREATE TRIGGER u AFTER INSERT ON settings BEGIN UPDATE settings SET value = '"/tmp/evil"'; END`,
  ],
  'a table of another spelling': [
    `CREATE TABLE "SETTINGS" (name TEXT, value TEXT); INSERT INTO SETTINGS VALUES ('startLine', '"/tmp/evil"')`,
  ],
  'a name that is no text': [
    `CREATE TABLE settings (name BLOB, value TEXT); INSERT INTO settings VALUES (CAST('startLine' AS BLOB), '"/tmp/evil"')`,
  ],
  'a name twice': [
    `CREATE TABLE settings (name TEXT, value TEXT)`,
    `INSERT INTO settings VALUES ('startLine', '""'), ('startLine', '"/tmp/evil"')`,
  ],
  'a record that is no JSON': [
    `CREATE TABLE notice_targets (id TEXT, record TEXT, secrets BLOB); INSERT INTO notice_targets VALUES ('1', '{', x'00')`,
  ],
};

it.each(Object.entries(FOREIGN))('the panel runs nothing by itself: %s', async (_, statements) => {
  await (await play(['ann'], {})).stop();
  const panel = new Sqlite(join(here, 'data/panel.sqlite'));
  for (const statement of statements) panel.exec(statement);
  panel.close();
  await backUp();
  configFor({ panel: { enabled: false } });
  const told = await restore('--latest');
  expect(told).toContain('restored; start the sidecar');
  expect(told).toMatch(/held back: .*evil|left out: panel\.sqlite of the backup is no file of this panel/);
  expect(restoredPanel().values.startLine).toBe('');
});

it('a backup decides nothing about the programs that a machine runs', async () => {
  const updates = { keys: [`${'A'.repeat(43)}=`], allowUnsigned: true };
  const continuous = { program: '/tmp/evil' };
  const evil = { panel: { enabled: false, git: '/tmp/evil', updates } };
  await (await play(['ann'], {})).stop();
  writeConfig(here, { backup: { remote: { type: 'folder', path: disk }, continuous }, ...evil });
  await backUp();
  configFor({ panel: { updates: { allowUnsigned: false } } });
  const told = await restore('--latest');
  const written = readFileSync(join(there, 'sidecar.json'), 'utf8');
  expect(JSON.parse(written)).toMatchObject({ panel: { enabled: false }, backup: { continuous: {} } });
  expect(/evil|AAAA|"allowUnsigned": true/.test(written)).toBe(false);
  expect(told.split('\n').filter((line) => line.startsWith('left out: '))).toEqual([
    expect.stringContaining('backup.continuous.program was "/tmp/evil"'),
    expect.stringContaining('panel.git was "/tmp/evil"'),
    expect.stringContaining('panel.updates.keys was ["AAAA'),
  ]);
});

it('secrets that the backup lacks are made new and named', async () => {
  await (await play(['ann'], {})).stop();
  const { remote } = await backUp();
  expect(remote.object).toMatch(/\.tar\.zst$/);
  const tar = pipe(readFileSync(join(disk, remote.object)), [...zstd, '-dc']);
  expect(tar.includes('secret-of-local')).toBe(false);
  configFor();
  const told = await restore('--latest');
  expect(told).toMatch(/the secret of the key local is new: .*secrets\/local\.secret/);
  expect(told).toContain('"keyId": "local"');
  expect(statSync(join(there, 'secrets/local.secret')).mode & 0o777).toBe(0o600);
});

it('age, zstd and tar of Debian open what was sent, and restore takes what they unpack', async () => {
  const { identity, recipient } = await keygen();
  await (await play(['ann', 'ü😀'], { encryptTo: [recipient] })).stop();
  const { remote, path } = await backUp();
  writeFileSync(join(there, 'identity.txt'), identity);
  const plain = pipe(readFileSync(join(disk, remote.object)), [...age, '-d', '-i', join(there, 'identity.txt')]);
  pipe(pipe(plain, [...zstd, '-dc']), ['tar', '-x', '-C', there]);
  const [name = ''] = readdirSync(there).filter((one) => one.startsWith('backup-'));
  expect(readdirSync(join(there, name)).toSorted()).toEqual(readdirSync(path).toSorted());
  rmSync(join(here, 'data'), { recursive: true });
  const { io } = copyIo();
  expect(await runRestore([join(there, name), '--config', join(here, 'sidecar.json')], io)).toBe(true);
  const again = await startSidecar({ folder: here, now: LATER });
  expect(await namesOf(again)).toEqual(['ann', 'ü😀']);
  await again.stop();
});

it('a second place that is away leaves the local backup, and gets it later', async () => {
  const sidecar = await play(['ann'], {});
  rmSync(disk, { recursive: true });
  const failed = await backUp();
  expect(failed.isDone).toBe(false);
  expect(failed.remote.error).toMatch(/^backup.remote: the folder .* cannot be used \(ENOENT\); mount its disk/);
  expect(failed.errors.at(-1)).toContain('the backup is on this machine only');
  expect(readdirSync(failed.path)).toContain('manifest.json');
  mkdirSync(disk);
  const sent = await backUp('send');
  expect([sent.isDone, readdirSync(disk)]).toEqual([true, [sent.remote.object]]);
  writeFileSync(join(disk, `${sent.remote.object}.partial`), 'left by a kill');
  writeFileSync(join(disk, 'backup-2026-01-01T00-00-00Z-zzzzzzzz.tar.zst.partial'), 'of another installation');
  await backUp('send');
  await backUp();
  await sidecar.stop();
  expect(readdirSync(disk).filter((name) => name.endsWith('.partial'))).toEqual([
    'backup-2026-01-01T00-00-00Z-zzzzzzzz.tar.zst.partial',
  ]);
});

it('a drill restores every row, compares bytes without an identity, and finds what is wrong', async () => {
  const { identity, recipient } = await keygen();
  writeFileSync(join(there, 'identity.txt'), identity);
  await (await play(['ann', 'bob'], { encryptTo: [recipient] })).stop();
  const drill = async (...args: string[]) => {
    const { io, lines, errors } = copyIo();
    const isDone = await runBackup(['drill', ...args, '--config', join(here, 'sidecar.json'), '--json'], io);
    return { isDone, errors, ...(JSON.parse(lines.join('')) as { drill: object }).drill };
  };
  expect(await drill()).toMatchObject({ isDone: false, error: expect.stringContaining('there is no backup') });
  const { remote } = await backUp();
  expect(await drill()).toMatchObject({ isDone: true, kind: 'bytes', rows: null, backup: remote.object });
  expect(await drill('--identity', join(there, 'identity.txt'))).toMatchObject({ ok: true, kind: 'opened', rows: 2 });
  const kept = () =>
    JSON.parse(readFileSync(join(here, 'data/backup-drill.json'), 'utf8')) as { lastSuccessAt: string };
  const { lastSuccessAt } = kept();
  const sent = readFileSync(join(disk, remote.object));
  sent[sent.length - 1] = (sent.at(-1) as number) ^ 1;
  writeFileSync(join(disk, remote.object), sent);
  for (const args of [[], ['--identity', join(there, 'identity.txt')]]) {
    expect(await drill(...args)).toMatchObject({
      isDone: false,
      ok: false,
      error: expect.stringMatching(/damaged|not what/),
    });
  }
  expect(kept()).toMatchObject({ lastSuccessAt, last: { ok: false } });
  expect(existsSync(join(here, 'data/drill/tried'))).toBe(false);
});

it('a backup of the version before, which held neither panel nor configuration, is restored', async () => {
  const fixture = new URL('../fixtures/4abb7ea4/local-backup.tar.zst', import.meta.url).pathname;
  pipe(pipe(readFileSync(fixture), [...zstd, '-dc']), ['tar', '-x', '-C', there]);
  const [name = ''] = readdirSync(there);
  const writeBehind = { namespaces: { stats: { consistentReads: true } } };
  const sidecar = await startSidecar({ folder: here, config: { writeBehind } });
  await sidecar.stop();
  const { io, lines } = copyIo();
  expect(await runRestore([join(there, name), '--config', join(here, 'sidecar.json')], io)).toBe(true);
  expect(lines.join()).toContain('stats: 1 queued writes that waited are in the journal');
  const again = await startSidecar({ folder: here, config: { writeBehind }, now: LATER });
  expect(await namesOf(again)).toEqual(['before']);
  const { rows } = await again.client.must<{ rows: object[] }>('find', { namespace: 'stats', table: 'kills' });
  expect(rows).toEqual([{ id: 1, who: 'before' }]);
  await again.stop();
});

it('the right backup is taken: by time, and by installation', async () => {
  await (await play(['ann'], {})).stop();
  const { remote } = await backUp();
  const other = join(disk, remote.object.replace(/-[a-z2-7]{8}\.tar/, '-zzzzzzzz.tar'));
  writeFileSync(other, readFileSync(join(disk, remote.object)));
  configFor();
  await expect(restore('--latest')).rejects.toThrow(/several installations .*--installation/);
  const [, id = ''] = /-([a-z2-7]{8})\.tar/.exec(remote.object) ?? [];
  await expect(restore('--at', '2020-01-01', '--installation', id)).rejects.toThrow('the oldest backup is of');
  expect(await restore('--list')).toContain('unknown until opened');
  expect(await restore('--at', '2200-01-01', '--installation', id)).toContain('restored');
});

it('another object of the same name is not taken for the one that was sent', async () => {
  await (await play(['ann'], {})).stop();
  const first = readFileSync(join(disk, (await backUp()).remote.object));
  await (await play(['bob'], {})).stop();
  writeFileSync(join(disk, (await backUp()).remote.object), first);
  there = here;
  await expect(restore('--latest', '--replace')).rejects.toThrow('is not what this installation has sent');
});
