import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { whyNoSmallDisk } from '#scripts/servers/small-disk.ts';
import { journalOf } from '../faults/disk-world.ts';
import { openSmallDisk } from '../faults/small-journal-disk.ts';
import { PanelClient } from '../panel/support/panel-client.ts';
import { fakeLine } from '../panel/support/server-rig.ts';
import { itIf } from '../support/it-if.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';
import { expectUnharmed } from './attack-world.ts';

const PAGE_BYTES = 4096;

/** A folder whose panel runs a game server from its start on. */
function folderWithServer(folder = testFolder()): { folder: string; file: string } {
  const file = join(folder, 'data/panel.sqlite');
  mkdirSync(join(folder, 'game'));
  const store = openPanelStore(file);
  const server = { backend: 'command', serverRoot: join(folder, 'game'), startLine: fakeLine() } as const;
  new PanelSettings(store).update({ ...server, autoStartServer: true, stopWaitSeconds: 1, killWaitSeconds: 1 });
  store.close();
  return { folder, file };
}

async function start(folder: string, file: string, wrapper: readonly string[] = []): Promise<SidecarProcess> {
  const sidecar = await spawnSidecar(folder, { panel: { enabled: true, data: file } }, {}, undefined, wrapper);
  onTestFinished(async () => void (await sidecar.kill('SIGTERM')));
  const columns = [{ name: 'id', type: 'int64' }];
  await sidecar.client.must('schema.sync', {
    namespace: 'game',
    schema: { tables: [{ name: 'things', primaryKey: ['id'], columns }] },
  });
  return sidecar;
}

/** By its first line on the console. */
async function runningServer(folder: string): Promise<number> {
  const logs = join(folder, 'logs/console');
  const text = () =>
    readdirSync(logs)
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(logs, name), 'utf8'))
      .join('');
  await expect.poll(text).toMatch(/out ready \d+ in/);
  return Number(/out ready (\d+) in/.exec(text())?.[1]);
}

function panelOf({ log }: SidecarProcess): PanelClient {
  const line = log.find(({ msg, service }) => msg === 'listening' && service === 'panel');
  return new PanelClient(String(line?.address));
}

/** Lines of the log that name the file. */
function told({ log }: SidecarProcess, file: string): string[] {
  return log
    .filter(({ level }) => level === 'error')
    .map(({ msg, cause = '' }) => `${msg} ${cause}`)
    .filter((text) => text.includes(file));
}

/** The game server crashes, and people try to sign in. */
async function crashAndSignIn(sidecar: SidecarProcess, pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  const client = panelOf(sidecar);
  await client.session();
  for (const username of ['one', 'two', 'three']) {
    expect((await client.post('/api/login', { username, password: 'wrong password' })).status).toBeOneOf([401, 500]);
  }
}

it('a panel.sqlite that another program locks while the panel runs costs signed calls nothing', async () => {
  const { folder, file } = folderWithServer();
  const sidecar = await start(folder, file);
  const pid = await runningServer(folder);
  const other = new Database(file);
  other.exec('BEGIN IMMEDIATE');
  await expectUnharmed({ ...sidecar, panelAddress: '' }, async () => {
    await crashAndSignIn(sidecar, pid);
    await expect.poll(() => told(sidecar, file)).toHaveLength(1);
    other.exec('ROLLBACK');
    other.close();
    expect(await panelOf(sidecar).session()).toMatchObject({ authenticated: false });
  });
  expect(told(sidecar, file)).toEqual([expect.stringMatching(/locked by another program; end that program/)]);
});

it('a panel.sqlite that is locked at the start leaves the API without a panel', async () => {
  const { folder, file } = folderWithServer();
  const other = new Database(file);
  other.pragma('locking_mode = EXCLUSIVE');
  other.exec('BEGIN EXCLUSIVE');
  onTestFinished(() => void other.close());
  const sidecar = await start(folder, file);
  await expectUnharmed({ ...sidecar, panelAddress: '' }, async () => {});
  expect(told(sidecar, file)).toEqual([expect.stringMatching(/no panel until the next start.* locked by another/)]);
});

it.each([
  ['is no database', (file: string) => writeFileSync(file, 'SQLite format 3\0 and nothing else'.repeat(200))],
  ['has lost pages', (file: string) => damagePages(file)],
])('a panel.sqlite that %s at the start leaves the API without a panel', async (_name, damage) => {
  const { folder, file } = folderWithServer();
  damage(file);
  const sidecar = await start(folder, file);
  await expectUnharmed({ ...sidecar, panelAddress: '' }, async () => {});
  expect(told(sidecar, file)).toEqual([expect.stringMatching(/no panel until the next start.* is damaged; /)]);
});

it('a panel.sqlite that is damaged while the panel runs costs signed calls nothing', async () => {
  const { folder, file } = folderWithServer();
  const sidecar = await start(folder, file);
  const pid = await runningServer(folder);
  damagePages(file);
  damagePages(`${file}-wal`);
  await expectUnharmed({ ...sidecar, panelAddress: '' }, () => crashAndSignIn(sidecar, pid));
});

itIf(
  await whyNoSmallDisk(),
  'a panel.sqlite whose disk is full costs signed calls nothing, while it runs and at the start',
  async () => {
    const disk = await openSmallDisk();
    onTestFinished(() => disk.close());
    const { folder } = disk;
    const file = join(journalOf(folder), 'panel.sqlite');
    const plain = folderWithServer();
    const [enter = '', ...words] = disk.wrapper;
    const copied = spawnSync(enter, [...words, 'cp', plain.file, file]);
    expect(copied.status).toBe(0);
    const sidecar = await start(folder, file, disk.wrapper);
    const pid = await runningServer(folder);
    fillDisk(join(disk.seenFrom(sidecar.pid), 'filler'));
    await expectUnharmed({ ...sidecar, panelAddress: '' }, async () => {
      await crashAndSignIn(sidecar, pid);
      await expect.poll(() => told(sidecar, file)).not.toEqual([]);
    });
    const next = await start(folder, file, disk.wrapper);
    await expectUnharmed({ ...next, panelAddress: '' }, async () => {});
  },
);

/** All but the first: what the file is stays known. */
function damagePages(file: string): void {
  const { size } = statSync(file);
  const opened = openSync(file, 'r+');
  for (let at = PAGE_BYTES; at < size; at += PAGE_BYTES) writeSync(opened, Buffer.alloc(64, 0xff), 0, 64, at);
  closeSync(opened);
}

function fillDisk(file: string): void {
  const opened = openSync(file, 'w');
  try {
    for (;;) writeSync(opened, Buffer.alloc(PAGE_BYTES));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(opened);
  }
}
