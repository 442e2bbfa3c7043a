import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { startSidecar } from '#support/sidecar.ts';

it('a sync waits for another process that holds the file, as long as it has time itself', async () => {
  const sidecar = await startSidecar({ config: { database: { statementTimeoutMs: 400 } } });
  const other = new SQLite(join(sidecar.folder, 'data/database.sqlite'));
  try {
    const { client } = sidecar;
    const schema = { tables: [{ name: 'things', columns: [{ name: 'a', type: 'int32' }] }] };
    await client.must('schema.sync', { namespace: 'game', schema });
    other.exec('BEGIN IMMEDIATE');
    const sync = client.call('schema.sync', { namespace: 'other', schema });
    const insert = await client.call('insert', { namespace: 'game', table: 'things', rows: [{ a: 1 }] });
    expect(insert.code).toBe('database_timeout');
    other.exec('COMMIT');
    expect((await sync).result).toMatchObject({ status: 'applied' });
    expect(await client.must('count', { namespace: 'game', table: 'things' })).toEqual({ count: 0 });
  } finally {
    other.close();
    await sidecar.stop();
  }
});
