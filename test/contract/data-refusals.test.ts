import { beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../support/sidecar.ts';
import { declare, outcome, useSidecar } from './data-world.ts';

const world = useSidecar({
  config: {
    keys: [keyOf('local', { allowUnfilteredWrites: true }), keyOf('modest', { allowUnfilteredWrites: false })],
    limits: { maxInsertRows: 3 },
  },
});
let namespace = '';
const ITEMS = {
  name: 'items',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'name', type: 'string', length: 10, unique: true },
    { name: 'weight', type: 'int32', nullable: true },
    { name: 'note', type: 'json', nullable: true },
    { name: 'is_gone', type: 'bool', default: false },
  ],
};

beforeAll(async () => {
  namespace = await declare(world.client, ITEMS);
  await world.client.must('insert', { namespace, table: 'items', rows: [{ name: 'lamp', weight: 1 }] });
});

const LAMP = { field: 'name', op: 'eq', value: 'lamp' };
const deep = (depth: number): object => (depth === 1 ? LAMP : { not: deep(depth - 1) });

/** Operation, payload beside namespace and table, outcome. */
const REFUSALS: readonly (readonly [operation: string, payload: Record<string, unknown>, outcome: string])[] = [
  ['insert', { rows: [] }, '400 invalid_request'],
  ['insert', { rows: [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }] }, '413 too_many_rows'],
  ['insert', { rows: [{}] }, '400 missing_value'],
  ['insert', { rows: [{ name: 'a' }, { weight: 1 }] }, '400 missing_value'],
  ['insert', { rows: [{ name: 'a', colour: 1 }] }, '400 unknown_column'],
  ['insert', { rows: [{ name: 'a', constructor: 1 }] }, '400 unknown_column'],
  ['insert', { rows: [{ name: null }] }, '400 invalid_value'],
  ['insert', { rows: [{ name: 'a', id: null }] }, '400 invalid_value'],
  ['insert', { rows: [{ name: 'a', is_gone: null }] }, '400 invalid_value'],
  ['insert', { rows: [{ name: 'longer than ten' }] }, '400 value_too_long'],
  ['insert', { rows: [{ name: 'lamp' }] }, '409 constraint_violation'],
  ['insert', { rows: [{ name: 'a', id: 1 }] }, '409 constraint_violation'],
  ['insert', { rows: [{ name: 'a' }], table: 'nowhere' }, '404 unknown_table'],
  ['insert', { rows: [{ name: 'a' }], namespace: 'nowhere' }, '404 namespace_unknown'],
  ['insert', { rows: [{ name: 'a' }], table: 'No' }, '400 invalid_identifier'],
  ['insert', { rows: [{ name: 'a' }], durability: 'later' }, '400 invalid_request'],
  ['insert', { rows: [{ name: 'a' }], idempotencyKey: '' }, '400 invalid_request'],
  ['insert', { rows: [{ name: 'a' }], idempotencyKey: 'k'.repeat(256) }, '400 invalid_request'],
  ['find', { fields: [] }, '400 invalid_request'],
  ['find', { fields: ['name', 'name'] }, '400 invalid_request'],
  ['find', { fields: ['colour'] }, '400 unknown_column'],
  ['find', { limit: -1 }, '400 invalid_request'],
  ['find', { limit: 1.5 }, '400 invalid_request'],
  ['find', { offset: -1 }, '400 invalid_request'],
  ['find', { sort: [{ field: 'note' }] }, '400 invalid_sort'],
  ['find', { sort: [{ field: 'name' }, { field: 'name' }] }, '400 invalid_sort'],
  ['find', { sort: [{ field: 'name', dir: 'up' }] }, '400 invalid_sort'],
  ['find', { sort: [{ field: 'colour' }] }, '400 unknown_column'],
  ['find', { filter: {} }, '400 invalid_filter'],
  ['find', { filter: [] }, '400 invalid_filter'],
  ['find', { filter: 'name' }, '400 invalid_filter'],
  ['find', { sort: { field: 'name' } }, '400 invalid_sort'],
  ['find', { filter: { and: [] } }, '400 invalid_filter'],
  ['find', { filter: { field: 'name', op: 'eq' } }, '400 invalid_filter'],
  ['find', { filter: { field: 'name', op: 'like', value: 'x' } }, '400 invalid_filter'],
  ['find', { filter: { field: 'name', op: 'eq', value: 1 } }, '400 invalid_filter'],
  ['find', { filter: { field: 'name', op: 'gt', value: null } }, '400 invalid_filter'],
  ['find', { filter: { field: 'name', op: 'in', value: [] } }, '400 invalid_filter'],
  ['find', { filter: { field: 'name', op: 'in', value: ['a', null] } }, '400 invalid_filter'],
  ['find', { filter: { field: 'weight', op: 'contains', value: '1' } }, '400 invalid_filter'],
  ['find', { filter: { field: 'is_gone', op: 'gt', value: true } }, '400 invalid_filter'],
  ['find', { filter: { field: 'note', op: 'in', value: [1] } }, '400 invalid_filter'],
  ['find', { filter: { field: 'note', op: 'eq', value: {} } }, '400 invalid_filter'],
  ['find', { filter: { field: 'colour', op: 'eq', value: 1 } }, '400 unknown_column'],
  ['find', { filter: deep(9) }, '400 invalid_filter'],
  ['find', { filter: deep(300) }, '400 invalid_filter'],
  ['find', { filter: { or: Array(129).fill(LAMP) } }, '400 invalid_filter'],
  ['update', { set: { weight: 2 } }, '400 filter_required'],
  ['update', { set: { weight: 2 }, all: false }, '400 filter_required'],
  ['update', { filter: LAMP }, '400 invalid_request'],
  ['update', { filter: LAMP, set: {}, inc: {} }, '400 invalid_request'],
  ['update', { filter: LAMP, all: true, set: { weight: 2 } }, '400 invalid_request'],
  ['update', { filter: LAMP, set: { id: 2 } }, '400 invalid_request'],
  ['update', { filter: LAMP, inc: { id: 2 } }, '400 invalid_request'],
  ['update', { filter: LAMP, inc: { name: 2 } }, '400 invalid_request'],
  ['update', { filter: LAMP, set: { weight: 2 }, inc: { weight: 1 } }, '400 invalid_request'],
  ['update', { filter: LAMP, set: { colour: 2 } }, '400 unknown_column'],
  ['update', { filter: LAMP, set: { name: null } }, '400 invalid_value'],
  ['update', { filter: LAMP, inc: { weight: 2_147_483_647 } }, '400 invalid_value'],
  ['update', { filter: LAMP, inc: { weight: '1' } }, '400 invalid_value'],
  ['upsert', { row: { name: 'a' }, keys: [] }, '400 invalid_request'],
  ['upsert', { row: { name: 'a', weight: 1 }, keys: ['weight'] }, '400 invalid_request'],
  ['upsert', { row: { name: 'a', weight: 1 }, keys: ['name', 'weight'] }, '400 invalid_request'],
  ['upsert', { row: { name: 'a' }, keys: ['colour'] }, '400 unknown_column'],
  ['upsert', { row: { name: 'a' }, keys: ['id'] }, '400 missing_value'],
  ['upsert', { row: { weight: 1 }, keys: ['name'] }, '400 missing_value'],
  ['upsert', { row: { id: 1 }, keys: ['id'] }, '400 missing_value'],
  ['upsert', { row: { id: 7, name: 'lamp' }, keys: ['id'] }, '409 constraint_violation'],
  ['delete', {}, '400 filter_required'],
  ['delete', { filter: LAMP, all: true }, '400 invalid_request'],
  ['count', { filter: { field: 'name', op: 'isNull', value: 1 } }, '400 invalid_filter'],
  ['flush', { namespace: 'nowhere' }, '404 namespace_unknown'],
];

async function everything(): Promise<string> {
  return (await world.client.call('find', { namespace, table: 'items' })).text;
}

describe('refusals change nothing', () => {
  it.each(REFUSALS)('%s %j: %s', async (operation, payload, expected) => {
    const before = await everything();
    const answer = await world.client.call(operation, { namespace, table: 'items', ...payload });
    expect(outcome(answer)).toBe(expected);
    expect(answer.isVerified).toBe(true);
    expect(await everything()).toBe(before);
  });

  it('unfiltered writes need the permission, also where nothing is declared', async () => {
    const modest = world.sidecar.clientOf('modest');
    const before = await everything();
    expect(outcome(await modest.call('delete', { namespace, table: 'items', all: true }))).toBe('403 forbidden');
    expect(outcome(await modest.call('update', { namespace, table: 'nowhere', all: true, set: { a: 1 } }))).toBe(
      '403 forbidden',
    );
    expect(await everything()).toBe(before);
  });

  it('null for an optional property means left out', async () => {
    const payload = { namespace, table: 'items', filter: null, fields: null, sort: null, limit: null, offset: null };
    expect((await world.client.call('find', payload)).text).toBe(await everything());
  });

  it('flush answers that write-behind is off', async () => {
    const expected = { flushed: 0, deadLettered: 0, remaining: 0, halted: false, enabled: false };
    expect(await world.client.must('flush', { namespace })).toEqual(expected);
  });
});
