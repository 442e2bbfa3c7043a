import { beforeAll, describe, expect, it } from 'vitest';
import { declare, outcome, useSidecar } from './data-world.ts';

const world = useSidecar();
const PLAYERS = {
  name: 'players',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'name', type: 'string', unique: true },
    { name: 'money', type: 'int32', default: 0 },
    { name: 'last_seen', type: 'datetime', nullable: true },
  ],
};

let namespace = '';
beforeAll(async () => {
  namespace = await declare(world.client, PLAYERS, { ...PLAYERS, name: 'vehicles' });
});

async function refusal(operation: string, payload: object): Promise<[outcome: string, message: string]> {
  const answer = await world.client.call(operation, { namespace, table: 'players', ...payload });
  const { error } = JSON.parse(answer.text) as { error: { message: string } };
  return [outcome(answer), error.message];
}

const where = (field: string) => ({ field, op: 'eq', value: 'x' });
const NMAE = 'unknown column "nmae": did you mean "name"?';
const LONG = 'n'.repeat(100);

describe('an unknown column is named, with the nearest one', () => {
  it.each<[operation: string, payload: object, message: string]>([
    ['find', { filter: where('nmae') }, `filter.field: ${NMAE}`],
    ['find', { filter: { and: [where('name'), { not: where('nmae') }] } }, `filter.and[1].not.field: ${NMAE}`],
    ['count', { filter: where('Name') }, 'filter.field: unknown column "Name": did you mean "name"?'],
    ['delete', { filter: where('nmae') }, `filter.field: ${NMAE}`],
    ['find', { fields: ['id', 'nmae'] }, `fields[1]: ${NMAE}`],
    ['find', { sort: [{ field: 'nmae' }] }, `sort[0].field: ${NMAE}`],
    [
      'insert',
      { rows: [{ id: 1, name: 'a', lastSeen: null }] },
      'rows[0].lastSeen: unknown column "lastSeen": did you mean "last_seen"?',
    ],
    ['insert', { rows: [{ id: 1, name: 'a', cash: 1 }] }, 'rows[0].cash: unknown column "cash"'],
    ['insert', { rows: [{ id: 1, name: 'a', constructor: 1 }] }, 'rows[0].constructor: unknown column "constructor"'],
    ['update', { filter: where('name'), set: { nmae: 'b' } }, `set.nmae: ${NMAE}`],
    [
      'update',
      { filter: where('name'), inc: { monney: 1 } },
      'inc.monney: unknown column "monney": did you mean "money"?',
    ],
    ['upsert', { row: { id: 1, nmae: 'a' }, keys: ['id'] }, `row.nmae: ${NMAE}`],
    ['upsert', { row: { id: 1, name: 'a' }, keys: ['nmae'] }, `keys[0]: ${NMAE}`],
    ['upsert', { row: { id: 1, name: 'a' }, keys: ['id'], update: ['nmae'] }, `update[0]: ${NMAE}`],
    [
      'upsert',
      { row: { id: 1, name: 'a' }, keys: ['id'], inc: { mony: 1 } },
      'inc.mony: unknown column "mony": did you mean "money"?',
    ],
    ['aggregate', { groupBy: ['nmae'], values: [{ as: 'n', fn: 'count' }] }, `groupBy[0]: ${NMAE}`],
    ['aggregate', { values: [{ as: 'n', fn: 'count', field: 'nmae' }] }, `values[0].field: ${NMAE}`],
    [
      'aggregate',
      { values: [{ as: 'total', fn: 'count' }], sort: [{ field: 'totla' }] },
      'sort[0].field: unknown column "totla": did you mean "total"?',
    ],
    ['find', { fields: ['id', LONG] }, `fields[1]: unknown column "${'n'.repeat(64)}…"`],
    ['find', { fields: ['na"me\n'] }, 'fields[0]: unknown column "na\\"me\\n": did you mean "name"?'],
  ])('%s %j', async (operation, payload, message) => {
    expect(await refusal(operation, payload)).toEqual(['400 unknown_column', message]);
  });
});

it.each([
  ['plyers', `unknown table "plyers" in namespace NS: did you mean "players"?`],
  ['houses', `unknown table "houses" in namespace NS`],
])('an unknown table is named, with the nearest one: %s', async (table, message) => {
  expect(await refusal('find', { table })).toEqual(['404 unknown_table', message.replace('NS', namespace)]);
});
