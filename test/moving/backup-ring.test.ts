import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { chosenEngines, isNamedAsProvider, isServerEngine, urlVariableOf } from '#scripts/servers/chosen-engines.ts';
import { runBackup } from '#sidecar/commands/backup.ts';
import { runRestore } from '#sidecar/commands/restore.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { type FreshDatabase, freshDatabase, type ServerEngine } from '../support/databases.ts';
import { fillWorld, goOn, type MovedWorld, readWorld } from '../support/moved-world.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** Data that is hard to carry goes once round all engines, from backup to backup. */

const SERVERS: readonly ServerEngine[] =
  (process.env.ENGINES ?? '') === ''
    ? ['postgres', 'mysql', 'mongodb']
    : chosenEngines(process.env).filter(isServerEngine).filter(isNamedAsProvider);

interface Place {
  readonly folder: string;
  readonly config: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Journal of a box that never answers; each backup and each restore says that writes in it may be lacking. */
const GONE = 'abcdefghij';

const REVOKED = { kid: 'lost', revokedAt: 1_780_000_000_000 };

const places: Place[] = [];
const databases: FreshDatabase[] = [];
let world: MovedWorld;
let expected: unknown;

beforeAll(async () => {
  places.push(placeOf({ provider: 'sqlite', file: 'database.sqlite' }));
  for (const engine of SERVERS) places.push(placeOf({ provider: engine, url: await emptyOn(engine) }));
  places.push(placeOf({ provider: 'sqlite', file: 'database.sqlite' }));
  const sidecar = await runningOn(places[0] as Place);
  world = await fillWorld(sidecar.client, 'hard');
  expected = await readWorld(sidecar.client, world);
  await sidecar.stop();
  await onEngine(places[0] as Place, async ({ queues, transfer, cluster }) => {
    await cluster.revokeKey(REVOKED, bounds());
    await transfer.writeQueue({ namespace: 'hard', journal: GONE, token: 3, position: 2 ** 33, past: [] }, bounds());
    const letter = { code: 'constraint_violation', message: 'a ’ ü 😀', payload: '{"a":9007199254740993}' } as const;
    const facts = { id: `${GONE}-7`, namespace: 'hard', kid: 'local', op: 'insert', time: 1, isRetryWanted: true };
    await queues.addLetters([{ ...letter, ...facts }], bounds());
  });
});

afterAll(async () => {
  for (const database of databases) await database.drop();
});

const bounds = () => ({ deadline: performance.now() + 20_000 });

function placeOf(settings: Readonly<Record<string, unknown>>): Place {
  const folder = testFolder();
  return { folder, config: writeConfig(folder, {}, settings), settings };
}

async function emptyOn(engine: ServerEngine): Promise<string> {
  const serverUrl = process.env[urlVariableOf(engine)];
  if (serverUrl === undefined) throw new Error(`${urlVariableOf(engine)} is not set`);
  const database = await freshDatabase(engine, serverUrl);
  databases.push(database);
  return database.url;
}

function runningOn({ folder, settings }: Place) {
  return startSidecar({ folder, database: { settings, drop: async () => undefined } });
}

async function onEngine<T>({ config }: Place, work: (engine: Engine) => Promise<T>): Promise<T> {
  const { database } = loadConfig(config, {});
  const engine = await openEngine({ ...database, poolSize: 2 }, { log: () => undefined, now: Date.now });
  return work(engine).finally(() => engine.close());
}

/** The backup's folder, and what its manifest says of the rows. */
async function backUp({ folder, config }: Place): Promise<{ path: string; namespaces: unknown }> {
  const run = copyIo();
  expect(await runBackup(['--config', config, '--json'], run.io)).toBe(true);
  expect(run.errors).toEqual([expect.stringContaining(`the journal ${GONE} `)]);
  const { path } = JSON.parse(run.lines.join('')) as { path: string };
  expect(path.startsWith(join(folder, 'backups', 'backup-'))).toBe(true);
  return {
    path,
    namespaces: (JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as { namespaces: unknown }).namespaces,
  };
}

it('ends where it began: rows, ids, quarantine, dead letters, revoked keys', { timeout: 180_000 }, async () => {
  const first = await backUp(places[0] as Place);
  let { path } = first;
  for (const place of places.slice(1)) {
    const run = copyIo();
    expect(await runRestore([path, '--config', place.config], run.io)).toBe(true);
    expect(run.errors).toEqual([]);
    expect(run.lines.join('\n')).toContain(`in the journal ${GONE};`);
    const next = await backUp(place);
    expect({ on: place.settings.provider, namespaces: next.namespaces }).toEqual({
      on: place.settings.provider,
      namespaces: first.namespaces,
    });
    path = next.path;
  }
  for (const place of places) {
    const { version, time } = await onEngine(place, (engine) => engine.inspect(bounds()));
    expect(version).toMatch(/^(SQLite|PostgreSQL|MySQL|MongoDB|[\d.]+-MariaDB)/i);
    expect(version).toMatch(/\d/);
    if (time !== null) expect(Math.abs(time - Date.now())).toBeLessThan(120_000);
    expect(time === null).toBe(place.settings.provider === 'sqlite');
  }
  const last = places.at(-1) as Place;
  // Each restore fences the journal, and what was applied is known.
  const row = await onEngine(last, ({ queues }) => queues.readQueue('hard', GONE, bounds()));
  expect(row).toMatchObject({ position: 0, past: expect.arrayContaining([{ token: 3, position: 2 ** 33 }]) });
  expect(await onEngine(last, ({ queues }) => queues.listLetters('hard', bounds()))).toMatchObject([
    { id: `${GONE}-7`, payload: '{"a":9007199254740993}', isRetryWanted: true },
  ]);
  expect(await onEngine(last, ({ cluster }) => cluster.listRevoked(bounds()))).toEqual([REVOKED]);
  // A machine that knows no nonces refuses what was signed before the restore, for as long as that could be sent again.
  const sidecar = await startSidecar({
    folder: last.folder,
    database: { settings: last.settings, drop: async () => undefined },
    now: () => Date.now() + 61_000,
  });
  expect(await readWorld(sidecar.client, world)).toEqual(expected);
  await goOn(sidecar.client, world);
  await sidecar.stop();
});
