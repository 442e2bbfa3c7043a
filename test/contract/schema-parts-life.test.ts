import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runQuarantine } from '#sidecar/commands/quarantine.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { startSidecar, type TestSidecar, unique } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { PATIENT } from './data-world.ts';
import { CHARACTERS, NAMES, PHONE, partsWorld, table } from './parts-world.ts';
import { buffered, pendingOf } from './write-behind-world.ts';

const QUEUED = unique('queued');
const CALLS = table('calls', 'id', { ...NAMES, name: 'note' });

let database: TestDatabase;
let first: TestSidecar;
let second: TestSidecar;
const folders = [testFolder(), testFolder()] as const;

beforeAll(async () => {
  database = await newDatabase();
  first = await startSidecar({ database, folder: folders[0], config: { ...PATIENT, ...buffered([QUEUED]) } });
  second = await startSidecar({ database, folder: folders[1], config: PATIENT });
});

afterAll(async () => {
  await second.stop();
  await first.stop();
  await database.drop();
});

/** Runs the command beside the running sidecars, as their owner would. */
async function quarantine(...args: string[]): Promise<string[]> {
  const out: string[] = [];
  const io = {
    print: (line: string) => out.push(line),
    printError: (line: string) => out.push(line),
    isForPeople: false,
  };
  await runQuarantine(args, loadConfig(first.configFile, {}), io);
  return out;
}

async function restoreAll(namespace: string): Promise<void> {
  const listed = (await quarantine('list')).map((line) => JSON.parse(line) as { id: number; namespace: string });
  for (const object of listed.filter((candidate) => candidate.namespace === namespace)) {
    expect((await quarantine('restore', String(object.id))).join()).toContain('restored');
  }
}

it('what a part gave up comes back out of quarantine as its own', async () => {
  const game = partsWorld(() => first);
  await game.sync(CHARACTERS);
  await game.extend('phone', PHONE, CALLS);
  await game.insert('characters', { id: 1, name: 'Ann', phone: '555' });
  await game.insert('calls', { id: 2, note: 'hi' });
  await game.extend('phone');
  await restoreAll(game.namespace);
  const { schema } = await game.describe('phone');
  expect(schema?.tables.map(({ name, columns }) => [name, columns.map((column) => column.name)])).toEqual([
    ['calls', ['id', 'note']],
    ['characters', ['phone']],
  ]);
  expect(await game.sync(CHARACTERS)).toMatchObject({ status: 'unchanged' });
  expect((await game.extend('phone', PHONE, CALLS)).plan).toMatchObject([{ kind: 'addIndex', index: 'by_phone' }]);
  expect(await game.rows('characters')).toEqual([{ id: 1, name: 'Ann', phone: '555' }]);
  expect(await game.rows('calls')).toEqual([{ id: 2, note: 'hi' }]);
});

describe('two sidecars', () => {
  it('wait for each other: a part that one is asked for extends what the other is told', async () => {
    const here = partsWorld(() => first);
    const there = partsWorld(() => second, here.namespace);
    const waiting = [
      here.extend('phone', PHONE),
      there.extend('garage', { name: 'characters', columns: [{ ...NAMES, name: 'car' }] }),
    ];
    // In the middle of a change of the other sidecar a sync is refused, as it always was.
    await expect
      .poll(async () => (await there.call('schema.sync', { schema: { tables: [CHARACTERS] } })).code, {
        timeout: 30_000,
      })
      .toBe('');
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(['applied', 'applied']);
    expect(here.columnsOf(await here.describe(), 'characters')).toEqual(['id', 'name', 'car', 'phone']);
    await here.insert('characters', { id: 1, name: 'Ann', phone: '555', car: 'T20' });
    await there.extend('garage');
    expect(await here.rows('characters')).toEqual([{ id: 1, name: 'Ann', phone: '555' }]);
  });

  it('change many parts at once without losing one', async () => {
    const worlds = [first, second].map((sidecar) => () => sidecar);
    const [here, there] = worlds.map((owner) => partsWorld(owner, QUEUED.replace('queued', 'many')));
    await here?.sync(CHARACTERS);
    const parts = Array.from({ length: 6 }, (_, i) => `part${i}`);
    const own = (part: string) => [
      table(`${part}_own`, 'id'),
      { name: 'characters', columns: [{ ...NAMES, name: `${part}_column` }] },
    ];
    await Promise.all(parts.map((part, i) => (i % 2 === 0 ? here : there)?.extend(part, ...own(part))));
    for (const part of parts) {
      expect(await there?.extend(part, ...own(part))).toMatchObject({ status: 'unchanged' });
    }
  });
});

it('a buffered namespace is drained before a part of it changes, and takes writes of the new columns after it', async () => {
  const game = partsWorld(() => first, QUEUED);
  await game.sync(CHARACTERS);
  expect(await game.insert('characters', { id: 1, name: 'Ann' })).toMatchObject({ queued: true });
  await game.extend('phone', PHONE);
  expect(await pendingOf(first.client)).toBe(0);
  expect(await game.insert('characters', { id: 2, name: 'Bob', phone: '555' })).toMatchObject({ queued: true });
  const dry = await game.call('schema.extend', { part: 'phone', schema: { tables: [] }, dryRun: true });
  expect(dry.result).toMatchObject({ status: 'planned' });
  expect(await pendingOf(first.client)).toBe(0);
  expect(await game.rows('characters')).toEqual([
    { id: 1, name: 'Ann', phone: null },
    { id: 2, name: 'Bob', phone: '555' },
  ]);
});
