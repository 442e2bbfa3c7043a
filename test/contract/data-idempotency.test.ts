import { beforeEach, describe, expect, it } from 'vitest';
import { keyOf } from '../support/sidecar.ts';
import { declare, outcome, PATIENT, useSidecar } from './data-world.ts';

const MINUTE_MS = 60_000;
let clockMs = Date.UTC(2026, 0, 1);
const world = useSidecar({
  now: () => clockMs,
  config: {
    ...PATIENT,
    keys: [keyOf('local', { allowUnfilteredWrites: true }), keyOf('other')],
  },
});
const TABLE = {
  name: 'log',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32', autoIncrement: true },
    { name: 'text', type: 'string', unique: true },
    { name: 'n', type: 'int32', default: 0 },
  ],
};
let namespace = '';

beforeEach(async () => {
  namespace = await declare(world.client, TABLE);
});

const insert = (text: string, idempotencyKey: string, more: object = {}) =>
  world.client.call('insert', { namespace, table: 'log', rows: [{ text }], idempotencyKey, ...more });
const count = async () => (await world.client.must<{ count: number }>('count', { namespace, table: 'log' })).count;

describe('idempotency', () => {
  it('answers the first result and writes nothing again, whatever the order of properties', async () => {
    const first = await insert('a', 'k');
    expect(first.text).toBe('{"inserted":1,"ids":[1]}');
    expect((await insert('a', 'k')).text).toBe(first.text);
    const turned = { idempotencyKey: 'k', rows: [{ text: 'a' }], table: 'log', namespace, ignored: true };
    expect((await world.client.call('insert', turned)).text).toBe(first.text);
    expect(await count()).toBe(1);
  });

  it('refuses the key with another payload or operation', async () => {
    await insert('a', 'k');
    expect(outcome(await insert('b', 'k'))).toBe('422 idempotency_conflict');
    const upsert = { namespace, table: 'log', row: { text: 'a' }, keys: ['text'], idempotencyKey: 'k' };
    expect(outcome(await world.client.call('upsert', upsert))).toBe('422 idempotency_conflict');
    expect(outcome(await insert('b', 'k', { table: 'nowhere' }))).toBe('422 idempotency_conflict');
    expect(await count()).toBe(1);
  });

  it('keeps keys of other callers and namespaces apart', async () => {
    await insert('a', 'k');
    const other = world.sidecar.clientOf('other');
    const payload = { namespace, table: 'log', rows: [{ text: 'b' }], idempotencyKey: 'k' };
    expect(outcome(await other.call('insert', payload))).toBe('200');
    namespace = await declare(world.client, TABLE);
    expect(outcome(await insert('b', 'k'))).toBe('200');
  });

  it('remembers an affected of 0, and forgets failures', async () => {
    const update = { namespace, table: 'log', filter: { field: 'text', op: 'eq', value: 'a' }, set: { n: 1 } };
    expect(await world.client.must('update', { ...update, idempotencyKey: 'u' })).toEqual({ affected: 0 });
    await insert('a', 'k');
    expect(await world.client.must('update', { ...update, idempotencyKey: 'u' })).toEqual({ affected: 0 });
    expect(outcome(await insert('a', 'again'))).toBe('409 constraint_violation');
    await world.client.must('delete', { namespace, table: 'log', all: true });
    expect(outcome(await insert('a', 'again'))).toBe('200');
  });

  it('looks the key up before the table: what was done is answered although the table is gone', async () => {
    const first = await insert('a', 'k');
    await world.client.must('schema.sync', { namespace, schema: { tables: [] } });
    expect((await insert('a', 'k')).text).toBe(first.text);
    expect(outcome(await insert('a', 'fresh'))).toBe('404 unknown_table');
  });

  it('remembers for ten minutes', async () => {
    await insert('a', 'k');
    clockMs += 10 * MINUTE_MS - 1000;
    expect(outcome(await insert('a', 'k'))).toBe('200');
    clockMs += 2000;
    expect(outcome(await insert('a', 'k'))).toBe('409 constraint_violation');
    expect((await insert('b', 'k')).result).toMatchObject({ inserted: 1 });
    expect(outcome(await insert('a', 'k'))).toBe('422 idempotency_conflict');
  });

  it('lets a twin in flight wait for the first, and gives it the first result', async () => {
    const twins = await Promise.all(Array.from({ length: 40 }, () => insert('a', 'twin')));
    expect(new Set(twins.map((twin) => twin.text))).toEqual(new Set([twins[0]?.text]));
    expect(twins.every((twin) => twin.ok)).toBe(true);
    expect(await count()).toBe(1);
  });

  it('lets the twins of one that failed try for themselves', async () => {
    await insert('a', 'first');
    const twins = await Promise.all(Array.from({ length: 10 }, () => insert('a', 'failing')));
    expect(new Set(twins.map(outcome))).toEqual(new Set(['409 constraint_violation']));
    expect(await count()).toBe(1);
  });

  it('of different payloads with one key at once one is written', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => insert(`t${i}`, 'same')));
    const outcomes = answers.map(outcome);
    expect(outcomes.filter((each) => each === '200')).toHaveLength(1);
    expect(outcomes.filter((each) => each === '422 idempotency_conflict')).toHaveLength(19);
    expect(await count()).toBe(1);
  });
});
