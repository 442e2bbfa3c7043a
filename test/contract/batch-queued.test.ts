import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runDeadLetters } from '#sidecar/commands/dead-letters.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import type { TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { outcome, PATIENT } from './data-world.ts';
import { buffered, healthOf, LATER, Scores, sidecarsOfTest } from './write-behind-world.ts';

/** Batches of a buffered namespace (contract sections 7 and 11): one entry of the journal, one pending write. */

const SOON = { timeout: 60_000, interval: 50 };
const start = sidecarsOfTest();
let folder: string;
let database: TestDatabase;
let sidecar: TestSidecar;
let scores: Scores;

const startBox = (writeBehind: object = LATER) =>
  start({ folder, database, config: { ...PATIENT, ...buffered(['stats'], writeBehind) } });

beforeEach(async () => {
  folder = testFolder();
  database = await newDatabase();
  sidecar = await startBox();
  scores = new Scores(sidecar.client, 'stats');
  await scores.declare();
});

afterEach(async () => {
  await database.drop();
});

const add = (id: number, points: number) => ({
  op: 'update',
  table: 'scores',
  filter: { field: 'id', op: 'eq', value: id },
  inc: { points },
});
const set = (id: number, more: object) => ({
  op: 'update',
  table: 'scores',
  filter: { field: 'id', op: 'eq', value: id },
  set: more,
});
const insert = (id: number, more: object = {}) => ({ op: 'insert', table: 'scores', rows: [{ id, ...more }] });
const remove = (id: number) => ({ op: 'delete', table: 'scores', filter: { field: 'id', op: 'eq', value: id } });
const upsert = (id: number, points: number) => ({ op: 'upsert', table: 'scores', row: { id, points }, keys: ['id'] });
const batch = (operations: object[], more: object = {}) =>
  sidecar.client.call('batch', { namespace: 'stats', operations, ...more });
const apart = (operations: object[], more: object = {}) => batch(operations, { atomic: false, ...more });
const flushed = (count: number, deadLettered = 0) => ({
  flushed: count,
  deadLettered,
  remaining: 0,
  halted: false,
  enabled: true,
});

interface Letter {
  readonly id: string;
  readonly op: string;
  readonly payload: Record<string, unknown>;
  readonly code: string;
  readonly message: string;
}

async function command(...args: string[]): Promise<string[]> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await runDeadLetters(args, loadConfig(sidecar.configFile, {}), { print, printError: print, isForPeople: false });
  return lines;
}

const letters = async () => (await command('list')).map((line) => JSON.parse(line) as Letter);
/** With a queue that looks for letters again soon. */
async function retryAll(): Promise<void> {
  await sidecar.stop();
  sidecar = await startBox({ flushIntervalMs: 50 });
  scores = new Scores(sidecar.client, 'stats');
  await command('retry');
  await vi.waitFor(async () => expect(await letters()).toEqual([]), SOON);
}

const canBeAtomic = () => sidecar.capabilities.transactions;

describe('a queued batch', () => {
  it('is acknowledged as one write, and applied in its order among others', async () => {
    await scores.insert(1);
    const operations = [
      insert(2),
      add(1, 5),
      set(1, { label: 'first' }),
      remove(2),
      insert(2, { points: 7 }),
      upsert(3, 3),
    ];
    const ack = await apart([...operations, upsert(3, 4), add(3, 1), add(2, 1)]);
    expect(ack.result).toEqual({ queued: true, id: expect.any(String), pending: 2 });
    await scores.add(3, 10);
    expect((await healthOf(sidecar.client)).writeBuffer).toMatchObject({ pending: 3 });
    expect(await scores.flush()).toEqual(flushed(3));
    expect(await scores.points()).toEqual([
      [1, 5],
      [2, 8],
      [3, 15],
    ]);
  });

  it('is applied after a restart from the journal, exactly once', async () => {
    await scores.insert(1);
    for (let i = 0; i < 5; i += 1) await apart([add(1, 1), insert(10 + i), add(10 + i, i), add(1, 1)]);
    if (canBeAtomic()) await batch([add(1, 100), insert(20)]);
    await sidecar.stop();
    sidecar = await startBox();
    scores = new Scores(sidecar.client, 'stats');
    await scores.flush();
    const rows = await scores.points();
    expect(rows).toEqual([
      [1, canBeAtomic() ? 110 : 10],
      ...Array.from({ length: 5 }, (_, i) => [10 + i, i]),
      ...(canBeAtomic() ? [[20, 0]] : []),
    ]);
  });

  it('of many alike changes is applied as a whole', async () => {
    const ids = Array.from({ length: 60 }, (_, id) => id);
    await apart(ids.map((id) => insert(id)));
    await apart(ids.map((id) => set(id, { points: id * 2 })));
    await apart(ids.flatMap((id) => [add(id, 1), add(id, 1)]));
    expect(await scores.flush()).toEqual(flushed(3));
    expect(await scores.points()).toEqual(ids.map((id) => [id, id * 2 + 2]));
  });

  it('is checked when it comes, and the refusal names the operation', async () => {
    const refused: [object[], object, string, number][] = [
      [[insert(1), { ...insert(2), rows: [{ id: 'x' }] }], {}, '400 invalid_value', 1],
      [[insert(1), insert(2), set(1, { nothing: 1 })], {}, '400 unknown_column', 2],
      [[{ ...insert(1), table: 'nowhere' }], {}, '404 unknown_table', 0],
      [[insert(1), { ...insert(2), expect: { affected: 1 } }], {}, '400 invalid_request', 1],
      [[insert(1), { ...insert(2), rows: [{ id: { $result: [0, 0] } }] }], {}, '400 invalid_value', 1],
    ];
    for (const [operations, more, expected, index] of refused) {
      for (const atomic of canBeAtomic() ? [true, false] : [false]) {
        const answer = await batch(operations, { atomic, ...more });
        expect(outcome(answer), JSON.stringify(operations)).toBe(expected);
        expect(JSON.parse(answer.text).error.index).toBe(index);
      }
    }
    expect((await healthOf(sidecar.client)).writeBuffer).toMatchObject({ pending: 0 });
    if (!canBeAtomic()) expect(outcome(await batch([insert(1)]))).toBe('409 unsupported_operation');
  });

  it('with a key is queued once, and one that must be live comes after what waits', async () => {
    const first = await apart([insert(1), add(1, 5)], { idempotencyKey: 'k' });
    expect((await apart([insert(1), add(1, 5)], { idempotencyKey: 'k' })).text).toBe(first.text);
    expect(outcome(await apart([insert(2)], { idempotencyKey: 'k' }))).toBe('422 idempotency_conflict');
    const live = await apart([add(1, 1), insert(1)], { durability: 'immediate' });
    expect(live.result).toMatchObject({ results: [{ affected: 1 }, { error: { code: 'constraint_violation' } }] });
    expect(await scores.points()).toEqual([[1, 6]]);
  });

  it('leaves one dead letter where it is atomic, else one for each operation that can never be done', async () => {
    await scores.insert(1);
    const operations = [add(1, 1), insert(1, { points: 50 }), insert(2)];
    const { result } = await (canBeAtomic() ? batch(operations) : apart(operations));
    await scores.add(1, 10);
    if (canBeAtomic()) {
      expect(await scores.flush()).toEqual(flushed(2, 1));
      const [letter, ...others] = await letters();
      expect(others).toEqual([]);
      expect(letter).toMatchObject({
        id: result.id,
        op: 'batch',
        code: 'constraint_violation',
        payload: { operations },
      });
      expect(letter?.message).toMatch(/^operations\[1\]: /);
      expect(await scores.points()).toEqual([[1, 10]]);
    } else {
      expect(await scores.flush()).toEqual(flushed(3, 1));
      expect(await letters()).toMatchObject([{ id: `${result.id}-001`, op: 'insert' }]);
      expect(await scores.points()).toEqual([
        [1, 11],
        [2, 0],
      ]);
    }
    await scores.call('delete', { filter: { field: 'id', op: 'eq', value: 1 }, durability: 'immediate' });
    await retryAll();
    expect(await scores.points()).toEqual([
      [1, 50],
      [2, 0],
    ]);
  });

  it('where it is not atomic goes on behind what fails; each failure is a letter of its own', async () => {
    await scores.insert(1);
    const ack = await apart([insert(1), add(1, 3), insert(2, { label: 'x' }), insert(3, { label: 'x' }), add(2, 1)]);
    expect(await scores.flush()).toEqual(flushed(2, 2));
    expect(await letters()).toEqual([
      {
        ...{ id: `${ack.result.id}-000`, namespace: 'stats', op: 'insert', code: 'constraint_violation' },
        ...{ payload: { namespace: 'stats', table: 'scores', rows: [{ id: 1 }] } },
        ...{ message: expect.any(String), time: expect.any(String) },
      },
      expect.objectContaining({ id: `${ack.result.id}-003`, op: 'insert' }),
    ]);
    expect(await scores.points()).toEqual([
      [1, 3],
      [2, 1],
    ]);
    expect(await command('discard', `${ack.result.id}-000`)).toHaveLength(1);
    await scores.call('delete', { filter: { field: 'id', op: 'eq', value: 2 }, durability: 'immediate' });
    await retryAll();
    expect(await scores.points()).toEqual([
      [1, 3],
      [3, 0],
    ]);
  });
});
