import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { QueuedEntry } from '#engine/queues.ts';
import { StaleSchemaError, type TableTarget, type Write } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { parseFilter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import { INT64_MAX } from '#protocol/limits.ts';
import { testFolder } from '#support/test-folder.ts';
import { MOVED, OWNED } from '../owned-queues.ts';
import { bodies, declareNotes, openSqlite, type TestEngine, within } from './world.ts';

let folder = '';
let file = '';
let opened: TestEngine[] = [];

beforeEach(() => {
  folder = testFolder();
  file = join(folder, 'game.sqlite');
  opened = [];
});

afterEach(async () => {
  for (const { engine } of opened) await engine.close();
});

async function start() {
  const world = await openSqlite(file);
  opened.push(world);
  return world.engine;
}

/** `game.notes` with a queue of journal `a`. */
async function queueOfNotes() {
  const engine = await start();
  const target = await declareNotes(engine);
  await engine.queues.claimQueue('game', 'a', within(5000));
  const apply = (entries: readonly QueuedEntry[], ms = 5000) =>
    engine.queues.applyQueue({ namespace: 'game', journal: 'a', token: 1, entries }, within(ms));
  const position = async () => (await engine.queues.readQueue('game', 'a', within(5000)))?.position;
  return { engine, target, apply, position };
}

function entry(target: TableTarget, position: number, write: Write): QueuedEntry {
  const texts = { letterId: `a-${position}`, kid: 'local', op: write.op, payload: '{}' };
  return { ...texts, position, isRetry: false, time: position, work: { target, write } };
}

function note(body: string, id: number | bigint | null = null): Write {
  return { op: 'insert', rows: [new Map<string, string | number | bigint>([['body', body], ...idOf(id)])] };
}

function idOf(id: number | bigint | null): [string, number | bigint][] {
  return id === null ? [] : [['id', id]];
}

it('a batch may have more different statements than are kept', async () => {
  const { engine, target, apply } = await queueOfNotes();
  // Six conditions of four forms each: every update is a text of its own.
  const forms = ['"op":"gt","value":-1', '"op":"lt","value":9', '"op":"ne","value":8', '"op":"isNull","value":false'];
  const filterOf = (i: number) => {
    const all = Array.from({ length: 6 }, (_, digit) => `{"field":"id",${forms[(i >> (2 * digit)) & 3]}}`);
    return parseFilter(parseJson(`{"and":[${all.join(',')}]}`), target.table);
  };
  const updates = Array.from({ length: 1500 }, (_, i): Write => {
    return { op: 'update', filter: filterOf(i), set: new Map([['body', `${i}`]]), inc: new Map() };
  });
  const writes = [note('first'), ...updates];
  for (const round of [0, 1]) {
    const entries = writes.map((write, i) => entry(target, round * writes.length + i + 1, write));
    expect(await apply(entries, 20_000)).toEqual([]);
  }
  expect(await bodies(engine, target)).toEqual(['1499', '1499']);
});

it.each([
  ['table', 'DROP TABLE game__notes'],
  ['column', 'ALTER TABLE game__notes DROP COLUMN body'],
])('a %s that was dropped by hand is another schema than that of the write', async (_, statement) => {
  const { engine, target, apply, position } = await queueOfNotes();
  const beside = new SQLite(file);
  beside.exec(statement);
  beside.close();
  await expect(apply([entry(target, 1, note('x'))])).rejects.toThrow(StaleSchemaError);
  expect(await position()).toBe(0);
  expect(await apply([{ ...entry(target, 1, note('x')), work: new ApiError('unknown_table', 'gone') }])).toHaveLength(
    1,
  );
  await engine.ping(within(5000));
});

it('a batch waits for another process that holds the file, and by its deadline nothing of it is done', async () => {
  const { engine, target, apply, position } = await queueOfNotes();
  const beside = new SQLite(file);
  beside.exec('BEGIN IMMEDIATE');
  await expect(apply([entry(target, 1, note('x'))], 300)).rejects.toMatchObject({ code: 'database_timeout' });
  const waiting = apply([entry(target, 1, note('y'))], 20_000);
  beside.exec('ROLLBACK');
  beside.close();
  expect(await waiting).toEqual([]);
  expect(await position()).toBe(1);
  expect(await bodies(engine, target)).toEqual(['y']);
});

it('the tables of queues are added to a file of a sidecar that knew none', async () => {
  await (await start()).ping(within(5000));
  await opened.pop()?.engine.close();
  const beside = new SQLite(file);
  beside.exec('DROP TABLE _journals; DROP TABLE _dead_letters');
  beside.close();
  const engine = await start();
  expect(await engine.queues.claimQueue('game', 'a', within(5000))).toMatchObject({ token: 1, position: 0 });
  expect(await engine.queues.countLetters(within(5000))).toBe(0);
});

it('the owners of a version before are moved to places, once', async () => {
  await (await start()).ping(within(5000));
  await opened.pop()?.engine.close();
  const beside = new SQLite(file);
  beside.exec(`DROP TABLE _journals; CREATE TABLE _queues (namespace TEXT PRIMARY KEY, journal TEXT, token INTEGER NOT NULL,
    position INTEGER NOT NULL, past TEXT NOT NULL)`);
  const put = beside.prepare('INSERT INTO _queues VALUES (?, ?, ?, ?, ?)');
  for (const { namespace, journal, token, position, past } of OWNED) {
    put.run(namespace, journal, token, position, JSON.stringify(past));
  }
  beside.close();
  const { queues } = await start();
  expect(await queues.listQueues(null, within(5000))).toEqual(MOVED);
  expect(await queues.claimQueue('game', 'b', within(5000))).toMatchObject({ token: 3, position: 70 });
  const looked = new SQLite(file);
  expect(looked.prepare("SELECT count(*) FROM sqlite_master WHERE name = '_queues'").pluck().get()).toBe(0);
  looked.close();
});

it.each([
  ['together', []],
  ['with another write between them', [note('other')]],
])('the id after the last of 64 bits is a dead letter, %s', async (_, between) => {
  const engine = await start();
  const target = await declareNotes(engine, 'money', 'int64');
  await engine.queues.claimQueue('money', 'a', within(5000));
  const notes = await declareNotes(engine);
  const writes: [TableTarget, Write][] = [
    [target, note('last', INT64_MAX)],
    ...between.map((write): [TableTarget, Write] => [notes, write]),
    [target, note('none')],
    [target, note('small', 7)],
  ];
  const entries = writes.map(([of, write], i) => entry(of, i + 1, write));
  const letters = await engine.queues.applyQueue({ namespace: 'money', journal: 'a', token: 1, entries }, within(5000));
  expect(letters).toMatchObject([{ id: `a-${writes.length - 1}`, code: 'constraint_violation' }]);
  expect(await bodies(engine, target)).toEqual(['small', 'last']);
});
