import { describe, expect, it } from 'vitest';
import type { DatabaseAccess } from '#panel/database/database-access.ts';
import { NamespaceList } from '#panel/database/namespace-list.ts';
import { TableRows } from '#panel/database/table-rows.ts';
import { ApiError, type ApiErrorCode } from '#protocol/errors.ts';
import { parseSchema } from '#protocol/schema.ts';

const { schema: SCHEMA } = parseSchema({
  tables: [{ name: 't', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }] }],
});
const [TABLE] = SCHEMA.tables;
const STORED = { namespace: 'game', revision: 1, hash: '', schema: SCHEMA, updatedAt: '2026-11-23T00:00:00.000Z' };

/** A database of one table, on which every read fails so; without a code it has two rows. */
function access(code: ApiErrorCode | null, estimate: number | null = null): DatabaseAccess {
  const page = async () => '{"rows":[{"id":1},{"id":2}],"hasMore":false}';
  const fail = async () => {
    throw new ApiError(code ?? 'internal_error', 'the reason');
  };
  const engine = {
    provider: 'sqlite',
    capabilities: { filterableJson: true },
    transfer: { listNamespaces: async () => ['game'] },
    schemas: { readSchema: async () => STORED },
    tableSizes: estimate === null ? fail : async () => [{ table: 't', rows: estimate, isEstimate: true, bytes: 9 }],
    count: code === null ? async () => 2 : fail,
  };
  const catalog = { table: async () => ({ namespace: 'game', revision: 1, table: TABLE }) };
  return {
    parts: { engine, catalog, writeBuffer: null },
    data: { find: code === null ? page : fail, count: code === null ? async () => '{"count":2}' : fail },
    behind: { find: page, count: async () => '{"count":2}' },
    bounds: () => ({ deadline: performance.now() + 1000 }),
    context: () => ({}),
  } as unknown as DatabaseAccess;
}

const read = (code: ApiErrorCode | null) => new TableRows(access(code)).read({ namespace: 'game', table: 't' });

describe('rows', () => {
  it.each([
    ['invalid_filter', 'database.request', 400],
    ['unknown_table', 'database.unknown', 404],
    ['sync_in_progress', 'database.refused', 409],
    ['conflict_retry', 'database.refused', 409],
    ['database_error', 'database.failed', 503],
    ['database_timeout', 'database.failed', 503],
    ['internal_error', 'database.failed', 503],
  ] as const)('%s of the database is %s', async (code, key, status) => {
    const detail = 'the reason';
    await expect(read(code)).rejects.toMatchObject({ key, status, details: { detail } });
  });

  it('behind a queue that has halted are shown as they are, and said to be so', async () => {
    expect(await read('write_buffer_halted')).toMatchObject({ rows: [['1'], ['2']], isBehind: true });
    expect(await read(null)).toMatchObject({ rows: [['1'], ['2']], isBehind: false });
  });
});

describe('the number of rows', () => {
  const count = (code: ApiErrorCode | null, filter = '', estimate: number | null = 3_000_000) =>
    new TableRows(access(code, estimate)).count({ namespace: 'game', table: 't', filter });

  it('is counted; a table that takes too long has the estimate of the database, a filter has none', async () => {
    expect(await count(null)).toEqual({ rows: 2, isEstimate: false });
    expect(await count('database_timeout')).toEqual({ rows: 3_000_000, isEstimate: true });
    const filter = '{"field":"id","op":"gt","value":1}';
    expect(await count('database_timeout', filter)).toEqual({ rows: null, isEstimate: false });
    expect(await count('write_buffer_halted')).toEqual({ rows: 2, isEstimate: false });
    await expect(count('database_error')).rejects.toMatchObject({ key: 'database.failed' });
  });
});

describe('tables', () => {
  it('are listed also where nothing tells how large they are; a small guess that cannot be counted is none', async () => {
    const table = { name: 't', isEstimate: false, bytes: null, columns: 1 };
    const { namespaces } = await new NamespaceList(access('database_timeout')).read();
    expect(namespaces).toMatchObject([{ name: 'game', tables: [{ ...table, rows: null }] }]);
    const small = await new NamespaceList(access('database_timeout', 3)).read();
    expect(small.namespaces).toMatchObject([{ tables: [{ name: 't', rows: null, bytes: 9 }] }]);
    const large = await new NamespaceList(access('database_timeout', 3_000_000)).read();
    expect(large.namespaces).toMatchObject([{ tables: [{ rows: 3_000_000, isEstimate: true }] }]);
    const counted = await new NamespaceList(access(null)).read();
    expect(counted.namespaces).toMatchObject([{ tables: [{ ...table, rows: 2 }] }]);
  });
});
