import { expect } from 'vitest';
import type { SignedClient } from './signed-client.ts';

const column = (name: string, type: string, options: object = {}) => ({ name, type, ...options });

const EVERYTHING = {
  name: 'everything',
  primaryKey: ['region', 'code', 'is_open'],
  columns: [
    column('region', 'string', { length: 20 }),
    column('code', 'decimal', { precision: 6, scale: 2 }),
    column('is_open', 'bool'),
    column('small', 'int32', { nullable: true }),
    column('large', 'int64', { nullable: true }),
    column('wide', 'decimal', { precision: 34, scale: 10, nullable: true }),
    column('ratio', 'float64', { nullable: true }),
    column('note', 'text', { nullable: true }),
    column('bag', 'json', { nullable: true }),
    column('seen', 'datetime', { nullable: true, default: 'now' }),
    column('born', 'date', { nullable: true }),
    column('token', 'uuid', { nullable: true, unique: true }),
    column('blob', 'bytes', { nullable: true }),
    column('tableoid', 'int32', { nullable: true }),
    column('updated_at', 'datetime', { nullable: true }),
    column('found', 'string', { length: 12, derived: { from: 'note', fold: true } }),
    column('first', 'int32', { derived: { from: 'bag', path: ['a', 0] } }),
  ],
  indexes: [{ name: 'by_seen', columns: ['seen', 'small'] }],
};

const COUNTED = {
  name: 'counted',
  primaryKey: ['id'],
  columns: [
    column('id', 'int64', { autoIncrement: true }),
    column('label', 'string', { length: 30, default: 'none' }),
    column('db_row_id', 'string', { nullable: true }),
  ],
};
/** Tables and columns that another part adds. */
const PLUG = {
  name: 'counted',
  columns: [column('mood', 'string', { length: 20, nullable: true })],
  indexes: [{ name: 'by_mood', columns: ['mood', 'label'] }],
};
const LOG = { name: 'log', columns: [column('line', 'string'), column('rowid', 'int32', { nullable: true })] };
const GONE = {
  name: 'gone',
  primaryKey: ['id'],
  columns: [
    column('id', 'int32', { autoIncrement: true }),
    column('name', 'string'),
    column('xmin', 'int32', { nullable: true }),
  ],
  indexes: [{ name: 'by_name', columns: ['name'], unique: true }],
};
const KEYLESS_GONE = { name: 'keyless_gone', columns: [column('ctid', 'string')] };
const EMPTY = { name: 'nothing_in_it', columns: [column('c', 'int32')] };

const without = (table: { columns: { name: string }[] }, name: string) => ({
  ...table,
  columns: table.columns.filter((candidate) => candidate.name !== name),
});

/** Text whose order by bytes is not that of an alphabet, and values at the ends of their types. */
const EVERYTHING_ROWS = [
  { region: 'a', code: 1, is_open: false },
  { region: 'a ', code: 1, is_open: true, note: 'a space at the end of the key ', tableoid: 7 },
  { region: 'A', code: '-9999.99', is_open: true, small: -2147483648, seen: '0001-01-01T00:00:00.000Z' },
  { region: 'Z', code: '9999.99', is_open: false, small: 2147483647, born: '9999-12-31' },
  { region: 'ä', code: 0.01, is_open: false, note: 'ünïcode 😀 \\ \' " \n\t', bag: { a: [1, null, 'x'], b: {} } },
  { region: '😀', code: '-0.01', is_open: true, ratio: 5e-324, token: '123E4567-e89b-12d3-a456-426614174000' },
  { region: '', code: 2, is_open: true, ratio: -1.7976931348623157e308, blob: 'AAEC/w==', born: '0001-01-01' },
  { region: 'a', code: 1, is_open: true, ratio: 0.1, blob: '', bag: [], seen: '9999-12-31T23:59:59.999Z' },
];

export interface MovedWorld {
  readonly namespace: string;
  /** Names of tables that a `find` can read. */
  readonly tables: readonly string[];
}

/**
 * Fills a namespace with what is hard to carry: every type at its ends, text that sorts by bytes, ids that were given and
 * are gone, a table without key whose rows have gaps, tables and columns in quarantine of both kinds, names of columns that
 * databases keep for themselves.
 */
export async function fillWorld(client: SignedClient, namespace: string, rows = 30): Promise<MovedWorld> {
  const call = (operation: string, payload: object) => client.must(operation, { namespace, ...payload });
  const sync = (...tables: object[]) => call('schema.sync', { schema: { tables } });
  await sync(EVERYTHING, COUNTED, LOG, GONE, KEYLESS_GONE, EMPTY);
  await call('schema.extend', { part: 'plug', schema: { tables: [PLUG] } });
  await call('insert', { table: 'everything', rows: EVERYTHING_ROWS });
  await call('update', {
    table: 'everything',
    filter: { and: [{ field: 'region', op: 'eq', value: 'Z' }] },
    set: { note: 'changed' },
    inc: { large: 41 },
  });
  const many = Array.from({ length: rows }, (_, i) => i);
  await call('insert', {
    table: 'counted',
    rows: many.map((i) => ({ label: `row ${i}`, db_row_id: `note ${i}`, mood: `m${i % 4}` })),
  });
  await call('insert', { table: 'counted', rows: [{ id: 5000, label: 'by hand', mood: 'odd' }] });
  await call('insert', { table: 'log', rows: many.map((i) => ({ line: `line ${(i * 7919) % rows}`, rowid: i % 3 })) });
  await call('delete', { table: 'log', filter: { field: 'rowid', op: 'eq', value: 1 } });
  await call('delete', { table: 'counted', filter: { field: 'id', op: 'eq', value: 5000 } });
  await call('insert', { table: 'gone', rows: many.map((i) => ({ name: `n${i}`, xmin: i })) });
  await call('insert', { table: 'keyless_gone', rows: many.map((i) => ({ ctid: `w${(i * 31) % rows}` })) });
  await sync(
    EVERYTHING,
    without(COUNTED, 'db_row_id'),
    without(LOG, 'rowid'),
    without(GONE, 'xmin'),
    KEYLESS_GONE,
    EMPTY,
  );
  await sync(EVERYTHING, without(COUNTED, 'db_row_id'), without(LOG, 'rowid'), EMPTY);
  return { namespace, tables: ['everything', 'counted', 'log', 'nothing_in_it'] };
}

/** Everything that a client can read of it. */
export async function readWorld(client: SignedClient, { namespace, tables }: MovedWorld): Promise<unknown> {
  const { hash, schema } = (await client.must('schema.describe', { namespace })) as Record<string, unknown>;
  const plug = (await client.must('schema.describe', { namespace, part: 'plug' })) as Record<string, unknown>;
  const rows: Record<string, unknown> = {};
  for (const table of tables) rows[table] = (await client.must('find', { namespace, table })).rows;
  return { hash, schema, plug: plug.schema, rows };
}

/** Continues with a moved world: ids that were given are not given again, gaps stay gaps. */
export async function goOn(client: SignedClient, { namespace }: MovedWorld): Promise<void> {
  const insert = (table: string, row: object) => client.must('insert', { namespace, table, rows: [row] });
  expect(await insert('counted', { label: 'new' })).toMatchObject({ ids: [5001] });
  // Derived columns came along, and follow their source here as well.
  const found = { field: 'found', op: 'eq', value: "ÜNÏCODE 😀 \\ '" };
  const { affected } = await client.must('update', {
    namespace,
    table: 'everything',
    filter: { and: [found, { field: 'first', op: 'eq', value: 1 }] },
    set: { bag: { a: [7] } },
  });
  expect(affected).toBe(1);
  const first = { field: 'first', op: 'eq', value: 7 };
  expect(await client.must('count', { namespace, table: 'everything', filter: first })).toEqual({ count: 1 });
  await insert('log', { line: 'the last one' });
  const { rows } = await client.must<{ rows: { line: string }[] }>('find', { namespace, table: 'log' });
  expect(rows.at(-1)).toEqual({ line: 'the last one' });
}
