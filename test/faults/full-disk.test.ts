import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { emptyDisk, fillDisk, type HeldDisk, holdSmallDisk, whyNoSmallDisk } from '#scripts/servers/small-disk.ts';
import { casesInOrder } from '#support/cases-in-order.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { PanelClient } from '../panel/support/panel-client.ts';
import { insertAccount, PASSWORD } from '../panel/support/quick-account.ts';
import type { FillAt } from '../support/fill-disk-at.ts';
import { KILLS } from '../support/kills-table.ts';
import { withPreload } from '../support/preloads.ts';
import { startSidecar, writeConfig } from '../support/sidecar.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

/** A disk without room, for real: each refusal names the folder and what to do, loses nothing, and the same command goes on with room. */

const MEGABYTES = 160;
/** A backup and a restore leave 64 MB to the others of the disk. */
const TOO_LITTLE_BYTES = 40 * 2 ** 20;
const ROWS = 2000;
const NO_ROOM = 'make room there';

let folder: string;
/** Where the programs find the disk. */
let at: string;
let fillFile: string;
let disk: HeldDisk;
/** The disk as this process sees it. */
let seen: string;

const environment = () => ({ NODE_OPTIONS: withPreload('fill-disk-at'), FILL_FOLDER: at, FILL_AT: fillFile });

interface End {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

interface Run {
  /** The moment at which the disk becomes full. */
  readonly fill?: FillAt;
  /** Folder of the configuration. */
  readonly home?: string;
  /** A file that takes standard output. */
  readonly to?: string;
}

async function run(args: readonly string[], { fill, home = at, to }: Run = {}): Promise<End> {
  if (fill !== undefined) writeFileSync(fillFile, JSON.stringify(fill));
  const shell = to === undefined ? [] : ['sh', '-c', `exec "$@" > ${to}`, 'sh'];
  const command = [process.execPath, SIDECAR_MAIN, ...args, '--config', join(home, 'sidecar.json')];
  const [program = '', ...words] = [...disk.enter, ...shell, ...command];
  const env = { ...process.env, ...environment() };
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  rmSync(fillFile, { force: true });
  return { output, errors, code };
}

/** The last line, as an owner reads it. */
function refusal({ code, errors }: End): string {
  expect(code).toBe(1);
  return errors.trim().split('\n').at(-1) ?? '';
}

const rows = (action: 'import' | 'export', table: string, ...more: string[]) => [
  ...['rows', action, '--namespace', 'game', '--table', table, '--format', 'csv', ...more],
];
const names = (below: string) => readdirSync(join(seen, below)).filter((name) => !name.endsWith('.sqlite'));
const newestBackup = () => join(at, 'backups', names('backups').toSorted().at(-1) ?? '');

async function prepare(): Promise<void> {
  const plain = join(folder, 'plain');
  mkdirSync(plain);
  const sidecar = await startSidecar({ folder: plain });
  const tables = [KILLS, { ...KILLS, name: 'imported' }];
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables } });
  await sidecar.client.must('schema.sync', { namespace: 'queued', schema: { tables: [KILLS] } });
  const all = Array.from({ length: ROWS }, (_, n) => ({ who: `${n}`.padEnd(90, 'x') }));
  for (let i = 0; i < ROWS; i += 500) {
    await sidecar.client.must('insert', { namespace: 'game', table: 'kills', rows: all.slice(i, i + 500) });
  }
  await sidecar.stop();
  const store = openPanelStore(join(plain, 'data/panel.sqlite'));
  insertAccount(store, 'owner', PERMISSIONS);
  store.close();
  const [program = '', ...words] = [...disk.enter, 'cp', '-a', `${plain}/.`, at];
  execFileSync(program, words);
}

function defineCases(): void {
  const { afterAll, afterEach, beforeAll, it } = casesInOrder();
  beforeAll(async () => {
    folder = testFolder();
    at = join(folder, 'disk');
    fillFile = join(folder, 'fill-at');
    mkdirSync(at);
    disk = await holdSmallDisk(at, MEGABYTES);
    seen = disk.outside(at);
    await prepare();
  });
  afterEach(() => emptyDisk(seen));
  afterAll(() => disk.close());

  describe('commands on a full disk', { timeout: 300_000 }, () => {
    it('a backup leaves none, and the one before stays', async () => {
      expect(await run(['backup'])).toMatchObject({ code: 0 });
      const before = names('backups');
      fillDisk(seen);
      expect(refusal(await run(['backup']))).toMatch(
        new RegExp(
          `the backup needs [\\d,]+ [KM]iB in ${at}/backups, and 0 KiB are free: ${NO_ROOM}. Nothing was changed$`,
        ),
      );
      emptyDisk(seen);
      // Another program takes the room when it was found.
      expect(refusal(await run(['backup'], { fill: { moment: 'check', time: 1 } }))).toMatch(
        new RegExp(
          `the disk is full \\(at least [\\d,]+ [KM]iB are needed, and [\\d,]+ [KM]iB are free in ${at}/backups\\)`,
        ),
      );
      expect(names('backups')).toEqual(before);
      emptyDisk(seen);
      expect(await run(['backup'])).toMatchObject({ code: 0 });
    });

    it('a restore begins nothing, or leaves what it began closed, and goes on', async () => {
      const home = join(at, 'there');
      writeConfig(join(seen, 'there'));
      const restore = ['restore', newestBackup()];
      fillDisk(seen);
      expect(refusal(await run(restore, { home }))).toMatch(
        new RegExp(
          `the restore needs [\\d,]+ [KM]iB in ${home}/data, and 0 KiB are free: ${NO_ROOM}. Nothing was changed$`,
        ),
      );
      expect(existsSync(join(seen, 'there/data/database.sqlite'))).toBe(false);
      emptyDisk(seen);
      // Another program takes the room that a new file of SQLite was to have.
      expect(refusal(await run(restore, { home, fill: { moment: 'check', time: 1 } }))).toMatch(
        new RegExp(
          `the disk is full \\([\\d,]+ [KM]iB are free in ${home}/data\\): ${NO_ROOM}. Then run the same command`,
        ),
      );
      emptyDisk(seen);
      const fill = { moment: 'INSERT INTO "game__kills"', time: 2 };
      const cut = await run(restore, { home, fill });
      expect(refusal(cut)).toMatch(
        new RegExp(
          `the disk is full \\([\\d,]+ [KM]iB are free in ${home}/data\\): ${NO_ROOM}. Run the same restore again`,
        ),
      );
      // The next restore would wait for it.
      expect(cut.errors).not.toContain('a lease stays behind');
      emptyDisk(seen);
      expect(refusal(await run(rows('export', 'kills'), { home }))).toContain('namespace game is not complete');
      expect((await run(restore, { home })).output).toContain('restored; start the sidecar');
      expect(names('there/data')).toEqual(['nonces']);
      expect((await run(rows('export', 'kills'), { home })).output.split('\r\n')).toHaveLength(ROWS + 2);
    });

    it('a restore into a database on a disk of its own releases its leases too', async () => {
      const home = join(folder, 'elsewhere');
      const database = join(at, 'elsewhere/database.sqlite');
      writeConfig(home, { database: { provider: 'sqlite', file: database } });
      const restore = ['restore', newestBackup()];
      const cut = await run(restore, { home, fill: { moment: 'INSERT INTO "game__kills"', time: 2 } });
      expect(refusal(cut)).toMatch(new RegExp(`free in ${at}/elsewhere\\): ${NO_ROOM}. Run the same restore again`));
      expect(cut.errors).not.toContain('a lease stays behind');
      emptyDisk(seen);
      expect((await run(restore, { home })).output).toContain('restored; start the sidecar');
      expect((await run(rows('export', 'kills'), { home })).output.split('\r\n')).toHaveLength(ROWS + 2);
      expect(readdirSync(join(seen, 'elsewhere'))).toEqual(['database.sqlite']);
      rmSync(join(seen, 'elsewhere'), { recursive: true });
    });

    it('an export leaves no file', async () => {
      const file = join(at, 'out.csv');
      const whole = rows('export', 'kills', '--file', file);
      fillDisk(seen);
      expect(refusal(await run(whole))).toContain(`0 KiB are free in ${at}/data): ${NO_ROOM}`);
      emptyDisk(seen);
      // When its first page was read.
      const fill = { moment: 'SELECT', time: 4 };
      expect(refusal(await run(whole, { fill }))).toMatch(
        new RegExp(`at least [\\d,]+ [KM]iB are needed, and 0 KiB are free in ${at}\\): ${NO_ROOM}. No file was left`),
      );
      expect(names('.').filter((name) => name.startsWith('out'))).toEqual([]);
      emptyDisk(seen);
      expect(refusal(await run(rows('export', 'kills'), { fill, to: join(at, 'shell.csv') }))).toContain(
        `standard output goes to a full disk: make room`,
      );
      emptyDisk(seen);
      expect(await run(whole)).toMatchObject({ code: 0 });
    });

    it('an import goes on where it was cut, and no row comes twice', async () => {
      const file = join(at, 'in.csv');
      const lines = Array.from({ length: ROWS }, (_, n) => `${n + 1},${`${n}`.padEnd(90, 'x')}\r\n`).join('');
      writeFileSync(join(seen, 'in.csv'), `id,who\r\n${lines}`);
      const imports = rows('import', 'imported', '--file', file);
      // Room for the memory that readers share, and not for the rows.
      fillDisk(seen);
      const { size } = statSync(join(seen, 'filler'));
      truncateSync(join(seen, 'filler'), size - 64 * 1024);
      expect(refusal(await run(imports))).toMatch(
        new RegExp(
          `the import needs [\\d,]+ [KM]iB in ${at}/data, and [\\d,]+ [KM]iB are free: ${NO_ROOM}. Nothing was changed$`,
        ),
      );
      emptyDisk(seen);
      const fill = { moment: 'INSERT INTO "game__imported"', time: 3 };
      expect(refusal(await run(imports, { fill }))).toMatch(
        new RegExp(`free in ${at}/data\\): ${NO_ROOM}. Rows that were written stay; run the same import again`),
      );
      emptyDisk(seen);
      expect((await run(imports)).output).toContain(`imported ${ROWS.toLocaleString('en-US')} rows`);
      const { output } = await run(rows('export', 'imported'));
      expect(output).toBe(readFileSync(join(seen, 'in.csv'), 'utf8'));
    });
  });

  describe('a sidecar on a full disk', { timeout: 300_000 }, () => {
    let sidecar: SidecarProcess;
    let panel: PanelClient;
    const start = () => spawnSidecar(at, {}, environment(), join(at, 'sidecar.json'), disk.enter);
    const logged = (msg: string) => sidecar.log.find((line) => String(line.msg).startsWith(msg));
    afterEach(() => sidecar?.kill());

    async function ended(path: string, body: object): Promise<Record<string, unknown>> {
      const { status } = (await panel.post<{ status: { id: string } }>(`/api/backups/${path}`, body)).body;
      const last = async () => (await panel.get<{ status: Record<string, unknown> }>('/api/backups')).body.status;
      const isOver = { id: status.id, endedAt: expect.any(String) };
      await expect.poll(last, { timeout: 120_000 }).toMatchObject(isOver);
      return last();
    }

    it('says that the daily backup needs room, and makes it at the next start with room', async () => {
      rmSync(join(seen, 'backups'), { recursive: true, force: true });
      const panelOn = { enabled: true, port: 0 };
      writeConfig(seen, { panel: panelOn, backup: { everyHours: 24 }, writeBehind: { namespaces: { queued: {} } } });
      fillDisk(seen);
      truncateSync(join(seen, 'filler'), MEGABYTES * 2 ** 20 - TOO_LITTLE_BYTES);
      sidecar = await start();
      await expect
        .poll(() => logged('the backup failed'), { timeout: 120_000 })
        .toMatchObject({
          cause: expect.stringMatching(
            `the backup needs [\\d,]+ [KM]iB in ${at}/backups, and [\\d,]+ [KM]iB are free: ${NO_ROOM}`,
          ),
        });
      await sidecar.kill('SIGTERM');
      fillDisk(seen);
      await expect(start()).rejects.toThrow(
        `the journal ${at}/data/journal cannot be used: its disk is full: ${NO_ROOM}`,
      );
      emptyDisk(seen);
      sidecar = await start();
      await expect.poll(() => logged('backup made'), { timeout: 120_000 }).toBeDefined();
    });

    it('refuses what it cannot store, restores and undoes with room', async () => {
      sidecar = await start();
      const panelLine = () => sidecar.log.find(({ service }) => service === 'panel');
      await expect.poll(panelLine).toBeDefined();
      panel = new PanelClient(String(panelLine()?.address));
      await panel.login('owner', PASSWORD);
      const { client } = sidecar;
      const who = async () => Number((await client.must<{ count: number }>('count', GAME)).count);
      await client.must('insert', { ...GAME, rows: [{ who: 'later' }] });
      const name = newestBackup().slice(at.length + '/backups/'.length);
      const body = { name, where: 'local', namespace: 'game', confirm: name };

      // The rows of before are gone, and there is no room for those of the backup.
      writeFileSync(fillFile, JSON.stringify({ moment: 'DROP TABLE', time: 1 }));
      const cut = await ended('restore', body);
      rmSync(fillFile);
      expect(cut).toMatchObject({ state: 'failed', outcome: { undo: expect.any(String) } });
      expect(cut.message).toMatch(
        new RegExp(`free in ${at}/data\\): ${NO_ROOM}.*stays closed until a restore ends well`),
      );
      expect(await client.call('count', GAME)).toMatchObject({ code: 'sync_in_progress' });
      emptyDisk(seen);
      fillDisk(seen);
      const note = {
        ...GAME,
        namespace: 'queued',
        rows: Array.from({ length: 1000 }, () => ({ who: 'q'.repeat(200) })),
      };
      // By the journal, or before it by the memory of nonces.
      await expect.poll(() => client.call('insert', note), { interval: 1 }).toMatchObject({ httpStatus: 503 });
      for (const [action, sent] of [['restore', body] as const, ['make', {}] as const]) {
        expect((await panel.post(`/api/backups/${action}`, sent)).body).toMatchObject({ error: 'disk.full' });
      }
      // Its lines take another way than the answers.
      await expect
        .poll(() => logged(`panel.data: ${at}/data/panel.sqlite cannot grow: the disk is full`))
        .toBeDefined();
      emptyDisk(seen);
      await expect.poll(() => client.call('insert', note)).toMatchObject({ ok: true });

      const { undo } = cut.outcome as { undo: string };
      expect(await ended('restore', { ...body, name: undo, confirm: undo })).toMatchObject({ state: 'succeeded' });
      expect(await who()).toBe(ROWS + 1);
      await sidecar.kill('SIGTERM');
    });
  });
}

const GAME = { namespace: 'game', table: 'kills' };
const why = await whyNoSmallDisk();
if (why === null) defineCases();
// The closing list of a run names it too (`untested-kinds.ts`).
else it('is not tested here', () => console.log(why));
