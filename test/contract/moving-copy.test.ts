import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCopy } from '#sidecar/commands/copy.ts';
import { runQuarantine } from '#sidecar/commands/quarantine.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { writeConfig } from '../support/config-folder.ts';
import { type CopyRun, copyIo } from '../support/copy-io.ts';
import { fillWorld, goOn, type MovedWorld, readWorld } from '../support/moved-world.ts';
import { startSidecar, type TestSidecar, unique } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';

let source: TestSidecar;
let world: MovedWorld;
let expected: unknown;
const databases: TestDatabase[] = [];

beforeAll(async () => {
  source = await startSidecar();
  world = await fillWorld(source.client, unique('move'));
  expected = await readWorld(source.client, world);
});

afterAll(async () => {
  await source.stop();
  for (const database of databases) await database.drop();
});

/** A configuration of an empty database of the engine under test. */
async function emptyTarget(): Promise<string> {
  const database = await newDatabase();
  databases.push(database);
  return configOf(database.settings);
}

function emptyFile(): string {
  return configOf({ provider: 'sqlite', file: 'database.sqlite' });
}

function configOf(database: object): string {
  const folder = testFolder();
  return writeConfig(folder, {}, database);
}

async function copy(from: string, to: string, ...more: string[]): Promise<CopyRun> {
  const run = copyIo();
  const isDone = await runCopy(['--from', from, '--to', to, '--namespace', world.namespace, ...more], run.io);
  return { ...run, isDone };
}

/** A sidecar on a database that `emptyTarget` made. */
async function onCopy<T>(configFile: string, work: (sidecar: TestSidecar) => Promise<T>): Promise<T> {
  const { database } = JSON.parse(readFileSync(configFile, 'utf8')) as { database: Record<string, unknown> };
  const sidecar = await startSidecar({ database: { settings: database, drop: async () => undefined } });
  try {
    return await work(sidecar);
  } finally {
    await sidecar.stop();
  }
}

describe('a namespace that is copied', () => {
  it('reads the same in a file and back on this engine, and goes on where the source was', async () => {
    const file = emptyFile();
    const there = await copy(source.configFile, file);
    expect(there).toMatchObject({ isDone: true, errors: [] });
    const back = await emptyTarget();
    const again = await copy(file, back);
    expect(again.isDone).toBe(true);
    expect(again.checksums()).toEqual(there.checksums());
    expect(there.checksums()).toHaveLength(9);
    await onCopy(back, async (moved) => {
      expect(await readWorld(moved.client, world)).toEqual(expected);
      await goOn(moved.client, world);
    });
  });

  it('has its quarantine in the copy, and all of it comes back there', async () => {
    const target = await emptyTarget();
    await copy(source.configFile, target);
    const run = copyIo();
    const io = { print: (line: string) => run.lines.push(line), printError: run.io.printError, isForPeople: false };
    expect(await runQuarantine(['restore'], loadConfig(target, {}), io)).toBe(true);
    await onCopy(target, async ({ client }) => {
      const rows = async (table: string) =>
        (await client.must<{ rows: Record<string, unknown>[] }>('find', { namespace: world.namespace, table })).rows;
      expect((await rows('counted')).slice(0, 2)).toEqual([
        { id: 1, label: 'row 0', db_row_id: 'note 0', mood: 'm0' },
        { id: 2, label: 'row 1', db_row_id: 'note 1', mood: 'm1' },
      ]);
      // Rows without key are known by what no client sees.
      expect((await rows('log')).map((row) => row.rowid)).toEqual(Array.from({ length: 20 }, (_, i) => (i % 2) * 2));
      expect(await rows('gone')).toHaveLength(30);
      expect((await rows('gone'))[29]).toEqual({ id: 30, name: 'n29', xmin: 29 });
      expect((await rows('keyless_gone'))[1]).toEqual({ ctid: 'w1' });
      const { ids } = await client.must<{ ids: unknown[] }>('insert', {
        namespace: world.namespace,
        table: 'gone',
        rows: [{ name: 'after' }],
      });
      expect(ids).toEqual([31]);
    });
  });
});

describe('the target', () => {
  it('is refused unless it is empty, and replaced when told', async () => {
    const target = await emptyTarget();
    await copy(source.configFile, target);
    const file = emptyFile();
    await copy(source.configFile, file);
    await expect(copy(file, target)).rejects.toThrow(
      'is not empty (counted, everything, log, 5 in quarantine); nothing was changed',
    );
    const replaced = await copy(file, target, '--replace');
    expect(replaced.isDone).toBe(true);
    expect((await copy(file, target, '--compare')).checksums()).toEqual(replaced.checksums());
  });
});

describe('a copy that was ended', () => {
  it('stays closed, and is brought up to date where the source has changed since', async () => {
    const target = await emptyTarget();
    const ended = copyIo();
    ended.onBegin((label) => label.startsWith('compares') && ended.ending.abort(new Error('ended by the test')));
    const args = ['--from', source.configFile, '--to', target, '--namespace', world.namespace];
    await expect(runCopy(args, ended.io)).rejects.toThrow('ended by the test');
    const { namespace } = world;
    const call = (operation: string, payload: object) => source.client.must(operation, { namespace, ...payload });
    await onCopy(target, async ({ client }) => {
      expect(await client.call('find', { namespace, table: 'log' })).toMatchObject({
        status: 409,
        code: 'sync_in_progress',
      });
      const schema = { tables: [] };
      expect(await client.call('schema.sync', { namespace, schema })).toMatchObject({
        status: 409,
        code: 'sync_in_progress',
      });
    });
    // A row before all others, one changed in the middle, one removed, one at the end.
    await call('insert', { table: 'everything', rows: [{ region: ' ', code: 0, is_open: true }] });
    await call('update', { table: 'counted', filter: { field: 'id', op: 'eq', value: 7 }, set: { label: 'changed' } });
    await call('delete', { table: 'log', filter: { field: 'line', op: 'eq', value: 'line 3' } });
    await call('insert', { table: 'log', rows: [{ line: 'after' }] });
    const again = copyIo();
    expect(await runCopy(args, again.io)).toBe(true);
    expect(again.lines).toContain(`${namespace}: goes on with a copy that was cut off`);
    const now = await readWorld(source.client, world);
    await onCopy(target, async ({ client }) => expect(await readWorld(client, world)).toEqual(now));
  });

  it('can be given up', async () => {
    const target = await emptyTarget();
    const ended = copyIo();
    ended.onBegin((label) => label.startsWith('compares') && ended.ending.abort(new Error('ended by the test')));
    const { namespace } = world;
    const args = ['--from', source.configFile, '--to', target, '--namespace', namespace];
    await expect(runCopy(args, ended.io)).rejects.toThrow('ended by the test');
    const discard = ['--to', target, '--namespace', namespace, '--discard'];
    expect(await runCopy(discard, copyIo().io)).toBe(true);
    await expect(runCopy(discard, copyIo().io)).rejects.toThrow(
      `no copy or import into namespace ${namespace} was cut off`,
    );
    await onCopy(target, async ({ client }) => {
      expect(await client.must('schema.describe', { namespace })).toMatchObject({ schema: { tables: [] } });
    });
  });

  it('says by name what differs', async () => {
    const target = await emptyTarget();
    await copy(source.configFile, target);
    const { namespace } = world;
    await onCopy(target, ({ client }) =>
      client.must('update', {
        namespace,
        table: 'counted',
        filter: { field: 'id', op: 'eq', value: 3 },
        set: { label: 'x' },
      }),
    );
    const compared = await copy(source.configFile, target, '--compare');
    expect(compared.isDone).toBe(false);
    expect(compared.lines.filter((line) => line.includes('DIFFERENT'))).toEqual([
      expect.stringMatching(new RegExp(`^${namespace}\\.counted +30 +[0-9a-f]{16} +in the target: DIFFERENT$`)),
    ]);
    expect(compared.checksums()).toHaveLength(8);
  });
});

describe('the source', () => {
  it('is read-only while it is copied, and open again afterwards', async () => {
    const target = await emptyTarget();
    const run = copyIo();
    const write = () =>
      source.client.call('insert', { namespace: world.namespace, table: 'nothing_in_it', rows: [{ c: 1 }] });
    let during: Awaited<ReturnType<typeof write>> | undefined;
    let reading: Promise<unknown> | undefined;
    run.onBegin(async () => {
      reading ??= write().then((answer) => {
        during = answer;
      });
      await reading;
    });
    const isDone = await runCopy(['--from', source.configFile, '--to', target, '--namespace', world.namespace], run.io);
    await reading;
    expect(during).toMatchObject({ status: 409, code: 'sync_in_progress' });
    expect(isDone).toBe(true);
    expect(
      await source.client.must('delete', { namespace: world.namespace, table: 'nothing_in_it', all: true }),
    ).toEqual({ affected: 0 });
  });
});
