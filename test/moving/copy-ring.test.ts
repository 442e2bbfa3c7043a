import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chosenEngines, isServerEngine, urlVariableOf } from '../../scripts/servers/chosen-engines.ts';
import { runCopy } from '../../sidecar/commands/copy.ts';
import { SampleSite } from '../e2e/sample-server.ts';
import { newFolder, writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { type FreshDatabase, freshDatabase, type ServerEngine } from '../support/databases.ts';
import { fillWorld, goOn, type MovedWorld, readWorld } from '../support/moved-world.ts';
import { startSidecar } from '../support/sidecar.ts';

/** What an evening of the sample leaves, and what is hard to carry, goes once round all engines. */

/** Between two files of SQLite. ENGINES leaves out what it does not name. */
const SERVERS: readonly ServerEngine[] =
  (process.env.ENGINES ?? '') === ''
    ? ['postgres', 'mysql', 'mongodb']
    : chosenEngines(process.env).filter(isServerEngine);

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
});

afterAll(async () => {
  for (const database of databases) await database.drop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function configOf(database: object): string {
  const folder = newFolder();
  folders.push(folder);
  return writeConfig(folder, {}, database);
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
  await goOn(last.client, world);
  await last.stop();
});
