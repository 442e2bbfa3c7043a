import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import type { Place, ServerEngine } from '#scripts/servers/engine.ts';
import * as mysql from '#scripts/servers/mysql.ts';
import * as mysql9 from '#scripts/servers/mysql9.ts';
import * as postgres from '#scripts/servers/postgres.ts';
import { folderInside, privateCommand, runPrivately, serverAccount } from '#scripts/servers/private-command.ts';
import { PrivateServer } from '#scripts/servers/private-server.ts';
import { groupFolder, groupPasswords, makeServerFolder, nodePlace } from '#support/cluster/node-place.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';

/** The servers' own ways of docs/backup.md, its blocks as they stand there: a server's disk is lost, and every row is back. */

const ROWS = { namespace: 'game', table: 'things' };
const COLUMNS = [
  { name: 'id', type: 'int64', autoIncrement: true },
  { name: 'price', type: 'decimal', precision: 20, scale: 4 },
  { name: 'note', type: 'text', nullable: true },
  { name: 'body', type: 'bytes', nullable: true },
];
const FIRST = { price: '1234567890123456.7890', note: 'früh\n\'"\\ 🚗', body: '/wD+' };
const SECOND = { price: '-0.0001', note: null, body: null };

/** Blocks of one section, by their language, in their order. */
function blocksOf(section: string, language: string): string[] {
  const page = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
  const text = `${page.split(`\n### ${section}\n`)[1]}`.split(/\n##/)[0];
  return [...`${text}`.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap((block) =>
    block[1] === language ? [`${block[2]}`] : [],
  );
}

function settingsOf(block: string): Record<string, string> {
  const lines = [...block.matchAll(/^(\w+) = (?:'(.*)'|(.*))$/gm)];
  return Object.fromEntries(lines.map(([, name, quoted, plain]) => [`${name}`, `${quoted ?? plain}`]));
}

/** A server, and `/mnt/disk` as a folder that outlives its data. */
class Box {
  readonly place: Place;
  /** Its folder as its programs see it. */
  readonly inside: string;
  readonly #engine: ServerEngine;
  readonly #server: PrivateServer;

  private constructor(engine: ServerEngine, place: Place) {
    this.place = place;
    this.inside = folderInside(place.installation, place.folder);
    this.#engine = engine;
    this.#server = new PrivateServer(engine, place, () => {});
    onTestFinished(() => this.#server.discard());
  }

  /** Runs with the settings of a block of the page. */
  static async start(engine: ServerEngine, block: string, diskFolder: string): Promise<Box> {
    const installation = await engine.provide(() => {});
    const place = await nodePlace(groupFolder(), 'server', installation, groupPasswords(), {});
    const disk = join(folderInside(installation, place.folder), 'disk');
    const box = new Box(engine, { ...place, settings: settingsOf(block.replaceAll('/mnt/disk', disk)) });
    for (const folder of ['', diskFolder]) makeServerFolder(box.onDisk(folder));
    await engine.prepare(box.place);
    await box.start();
    return box;
  }

  get adminUrl(): string {
    return this.#engine.urls(this.place).adminUrl;
  }

  onDisk(...path: string[]): string {
    return join(this.place.folder, 'disk', ...path);
  }

  start(): Promise<void> {
    return this.#server.start();
  }

  /** A server again, with nothing in it. */
  async startEmpty(): Promise<void> {
    await this.#engine.prepare(this.place);
    await this.start();
  }

  /** All but `/mnt/disk` is lost. */
  async burn(): Promise<void> {
    await this.#server.kill();
    rmSync(join(this.place.folder, 'data'), { recursive: true });
  }

  /** Command that runs a block of the page, after lines that an owner has in the environment. */
  script(block: string, ...before: string[]): string[] {
    const name = `script-${readdirSync(this.place.folder).length}.sh`;
    const lines = ['set -eu', ...before, block.replaceAll('/mnt/disk', join(this.inside, 'disk'))];
    writeFileSync(join(this.place.folder, name), lines.join('\n'), { mode: 0o644 });
    return ['bash', join(this.inside, name)];
  }

  run(block: string, ...before: string[]): Promise<void> {
    return runPrivately(this.place, this.script(block, ...before));
  }

  /** A sidecar on its database, for the time of `work`. */
  async withSidecar<T>(provider: 'postgres' | 'mysql', work: (sidecar: TestSidecar) => Promise<T>): Promise<T> {
    const settings = { provider, url: this.#engine.urls(this.place).url };
    const sidecar = await startSidecar({ database: { settings, drop: async () => {} } });
    try {
      return await work(sidecar);
    } finally {
      await sidecar.stop();
    }
  }
}

async function declareTable({ client }: TestSidecar): Promise<void> {
  const tables = [{ name: ROWS.table, primaryKey: ['id'], columns: COLUMNS }];
  await client.must('schema.sync', { namespace: ROWS.namespace, schema: { tables } });
}

const insertRow = ({ client }: TestSidecar, row: object) => client.must('insert', { ...ROWS, rows: [row] });
const rowsOf = async ({ client }: TestSidecar) => (await client.must('find', ROWS)).rows;

/** Rows on both sides of the copy of the day; resolves with what a game server sees of them. */
function fill(box: Box, provider: 'postgres' | 'mysql', copyOfTheDay: () => Promise<void>): Promise<unknown> {
  return box.withSidecar(provider, async (sidecar) => {
    await declareTable(sidecar);
    await insertRow(sidecar, FIRST);
    await copyOfTheDay();
    await insertRow(sidecar, SECOND);
    return rowsOf(sidecar);
  });
}

it('PostgreSQL: every row is back from the archived log and a base', async () => {
  const [archive = ''] = blocksOf('PostgreSQL', 'ini');
  const [base = '', back = ''] = blocksOf('PostgreSQL', 'sh');
  const box = await Box.start(postgres, archive, 'wal');
  const bin = `${box.place.installation.programs.basebackup}`.replace(/\/[^/]*$/, '');
  const server = `PGHOST=${box.inside} PGPORT=${box.place.port} PGUSER=admin PGDATA=${box.inside}/data`;
  const session = `export PATH=${bin}:$PATH ${server}`;
  const rows = await fill(box, 'postgres', () => box.run(base, session));
  const piece = await finishedPiece(box.adminUrl);
  await expect.poll(() => existsSync(box.onDisk('wal', piece))).toBe(true);

  await box.burn();
  makeServerFolder(join(box.place.folder, 'data'));
  await box.run(back, session);
  await box.start();
  expect(rows).toHaveLength(2);
  expect(await box.withSidecar('postgres', rowsOf)).toEqual(rows);
});

/** Name of the log's piece with the last write: it is copied now, and not within a minute. */
async function finishedPiece(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
    return `${rows[0]?.name}`;
  } finally {
    await client.end();
  }
}

const SECTION = 'MariaDB and MySQL';

/** Programs and an option that have another name there, as the page says. */
const onMysql = (block: string): string =>
  block
    .replace('mariadb-dump', 'mysqldump')
    .replace('--master-data', '--source-data')
    .replaceAll('mariadb-binlog', 'mysqlbinlog')
    .replaceAll(/\bmariadb\b/g, 'mysql');

it.each([
  ['MariaDB', mysql, (block: string) => block],
  ['MySQL', mysql9, onMysql],
] as const)('%s: every row is back from the copied log and a dump', async (_name, engine, named) => {
  const [settings = ''] = blocksOf(SECTION, 'ini');
  const [follow = '', dump = '', back = ''] = blocksOf(SECTION, 'sh').map((block) =>
    named(block.replace(' game ', ' sidecar ')),
  );
  const box = await Box.start(engine, settings, 'binlog');
  await makeAccount(box);
  const follower = new Follower(box, follow);
  follower.start();
  await expect.poll(() => readdirSync(box.onDisk('binlog')).length).toBeGreaterThan(0);
  const rows = await fill(box, 'mysql', async () => {
    await box.run(dump);
    // As after a restart of the machine with the disk.
    await follower.stop();
    follower.start();
  });
  const [file, bytes] = await endOfLog(box.adminUrl);
  await expect.poll(() => statSync(box.onDisk('binlog', file), { throwIfNoEntry: false })?.size).toBe(bytes);

  await follower.stop();
  await box.burn();
  await box.startEmpty();
  writeAccount(box, 'admin', box.place.adminPassword);
  await box.run(back);
  expect(rows).toHaveLength(2);
  expect(await box.withSidecar('mysql', rowsOf)).toEqual(rows);
});

/** The service that copies the log. */
class Follower {
  readonly #box: Box;
  readonly #block: string;
  #stop: () => Promise<unknown> = () => Promise.resolve();

  constructor(box: Box, block: string) {
    [this.#box, this.#block] = [box, block];
    onTestFinished(() => this.stop());
  }

  start(): void {
    const { place, inside } = this.#box;
    const argv = privateCommand({ ...place, argv: this.#box.script(this.#block), deathSignal: 'SIGKILL' });
    const env = { PATH: `${process.env.PATH}`, HOME: inside };
    const child = spawn(`${argv[0]}`, argv.slice(1), { cwd: place.folder, env, stdio: 'ignore' });
    const ended = once(child, 'close');
    this.#stop = () => {
      child.kill('SIGKILL');
      return ended;
    };
  }

  async stop(): Promise<void> {
    await this.#stop();
  }
}

async function makeAccount(box: Box): Promise<void> {
  const connection = await createConnection({ uri: box.adminUrl, multipleStatements: true });
  try {
    await connection.query(`${blocksOf(SECTION, 'sql')[0]}`);
  } finally {
    await connection.end();
  }
  writeAccount(box, 'backup', 'a long password');
}

/** `~/.my.cnf` of the account that runs the blocks. */
function writeAccount({ place }: Box, user: string, password: string): void {
  const file = join(place.folder, '.my.cnf');
  const lines = ['[client]', `user=${user}`, `password="${password}"`, 'host=127.0.0.1', `port=${place.port}`, ''];
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  const account = serverAccount();
  if (account !== null) chownSync(file, account.uid, account.gid);
}

/** Newest file of the server's log, and its bytes so far. */
async function endOfLog(url: string): Promise<readonly [string, number]> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SHOW BINARY LOGS');
    return [`${rows.at(-1)?.Log_name}`, Number(rows.at(-1)?.File_size)];
  } finally {
    await connection.end();
  }
}
