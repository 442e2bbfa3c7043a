import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { DeadLetter, QueueRow } from '#engine/queues.ts';
import { chosenEngines, isNamedAsProvider, isServerEngine, urlVariableOf } from '#scripts/servers/chosen-engines.ts';
import { runCopy } from '#sidecar/commands/copy.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { SampleSite } from '../e2e/sample-server.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { type FreshDatabase, freshDatabase, type ServerEngine } from '../support/databases.ts';
import { fillWorld, goOn, type MovedWorld, readWorld } from '../support/moved-world.ts';
import { startSidecar } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/** Data of an evening of the sample, and data that is hard to carry, goes once round all engines. */

/** Between two files of SQLite. ENGINES leaves out what it does not name. */
const SERVERS: readonly ServerEngine[] =
  (process.env.ENGINES ?? '') === ''
    ? ['postgres', 'mysql', 'mongodb']
    : chosenEngines(process.env).filter(isServerEngine).filter(isNamedAsProvider);

/** A queue with a history, and writes that no database took: numbers past 2^53, text that is hard to store. */
const QUEUE: QueueRow = {
  namespace: 'hard',
  ...{ journal: 'abcdefghij', token: 3, position: 2 ** 33 },
  past: [
    { token: 1, position: 0 },
    { token: 2, position: 77 },
  ],
};
const LETTERS: DeadLetter[] = [
  {
    code: 'constraint_violation',
    message: 'a ’ ü 😀',
    isRetryWanted: false,
    payload: '{"a":9007199254740993, "b":"\\u0000"}',
  },
  {
    code: 'write_buffer_unavailable',
    message: 'no',
    isRetryWanted: true,
    payload: `{"text":"${'ü😀'.repeat(100_000)}"}`,
  },
].map(
  (letter, i) =>
    ({ ...letter, id: `abcdefghij-${i}`, namespace: 'hard', kid: 'local', op: 'insert', time: i }) as DeadLetter,
);
const bounds = () => ({ deadline: performance.now() + 20_000 });

const folders: string[] = [];
const databases: FreshDatabase[] = [];
let start: string;
let world: MovedWorld;
let expected: unknown;

beforeAll(async () => {
  start = configOf({ provider: 'sqlite', file: 'database.sqlite' });
  const sidecar = await startSidecar({
    folder: folders[0] as string,
    config: { database: { file: 'database.sqlite' } },
  });
  const site = new SampleSite();
  site.connectTo(sidecar.address, sidecar.secret);
  site.setOptions({ characters: 300, actionsPerSecond: 200, summarySeconds: 1 });
  const server = site.start();
  await server.line(/last 1 s: /);
  await server.quit();
  await site.remove();
  world = await fillWorld(sidecar.client, 'hard');
  expected = await readWorld(sidecar.client, world);
  await sidecar.stop();
  await onEngine(start, async ({ queues, transfer }) => {
    await transfer.writeQueue(QUEUE, bounds());
    await queues.addLetters(LETTERS, bounds());
  });
});

afterAll(async () => {
  for (const database of databases) await database.drop();
});

function configOf(database: object): string {
  const folder = testFolder();
  folders.push(folder);
  return writeConfig(folder, {}, database);
}

async function onEngine(config: string, work: (engine: Engine) => Promise<void>): Promise<void> {
  const { database } = loadConfig(config, {});
  const engine = await openEngine({ ...database, poolSize: 2 }, { log: () => undefined, now: Date.now });
  await work(engine).finally(() => engine.close());
}

async function emptyOn(engine: ServerEngine): Promise<string> {
  const serverUrl = process.env[urlVariableOf(engine)];
  if (serverUrl === undefined) throw new Error(`${urlVariableOf(engine)} is not set`);
  const database = await freshDatabase(engine, serverUrl);
  databases.push(database);
  return configOf({ provider: engine, url: database.url });
}

it('ends where it began, by checksum and by what clients read', { timeout: 120_000 }, async () => {
  const places = [start];
  for (const engine of SERVERS) places.push(await emptyOn(engine));
  places.push(configOf({ provider: 'sqlite', file: 'database.sqlite' }));
  const checksums: string[][][] = [];
  for (const [i, to] of places.slice(1).entries()) {
    const run = copyIo();
    const isDone = await runCopy(['--from', places[i] as string, '--to', to], run.io);
    expect({ to: SERVERS[i] ?? 'sqlite', isDone, errors: run.errors }).toEqual({
      to: SERVERS[i] ?? 'sqlite',
      isDone: true,
      errors: [],
    });
    checksums.push(run.checksums());
  }
  for (const after of checksums) expect(after).toEqual(checksums[0]);
  expect(checksums[0]?.length).toBeGreaterThan(12);
  const last = await startSidecar({
    folder: folders.at(-1) as string,
    config: { database: { file: 'database.sqlite' } },
  });
  expect(await readWorld(last.client, world)).toEqual(expected);
  await onEngine(places.at(-1) as string, async ({ queues }) => {
    expect(await queues.readQueue('hard', 'abcdefghij', bounds())).toEqual(QUEUE);
    expect(await queues.listLetters('hard', bounds())).toEqual(LETTERS);
  });
  await goOn(last.client, world);
  await last.stop();
});
