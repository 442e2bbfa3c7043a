import { callApi } from '../call-api.ts';
import { ITEMS, NAMESPACE, TEXT_CHARS, TEXTS } from '../game_load/ways.ts';
import { itemOf } from './items.ts';

const ROWS_PER_INSERT = 1000;

const column = (name: string, type: string, more: object = {}) => ({ name, type, ...more });
const table = (name: string, columns: readonly object[]) => ({
  name,
  primaryKey: ['id'],
  columns: [column('id', 'int64'), ...columns],
});
const TABLES = [
  table('items', [
    column('name', 'string', { length: 60 }),
    column('grp', 'int32'),
    column('hits', 'int64'),
    column('note', 'string', { length: 200 }),
  ]),
  table('texts', [column('body', 'text')]),
];

/** Rows of 200 bytes of JSON, and 200 texts of 20 kB; ids from 1, whatever was there before. */
export async function fillTables(port: number, secret: string): Promise<void> {
  const call = (path: string, payload: object) => callApi(port, secret, path, { namespace: NAMESPACE, ...payload });
  await call('/v1/schema/sync', { schema: { tables: TABLES } });
  for (const { name } of TABLES)
    await call('/v1/data/delete', { table: name, filter: { field: 'id', op: 'gt', value: 0 } });
  for (let first = 1; first < ITEMS; first += ROWS_PER_INSERT) {
    const rows = Array.from({ length: ROWS_PER_INSERT }, (_, index) => itemOf(first + index));
    await call('/v1/data/insert', { table: 'items', rows });
  }
  const body = 'A text as scripts keep it. '.repeat(TEXT_CHARS).slice(0, TEXT_CHARS);
  const texts = Array.from({ length: TEXTS }, (_, index) => ({ id: 1 + index, body }));
  for (let first = 0; first < TEXTS; first += 40)
    await call('/v1/data/insert', { table: 'texts', rows: texts.slice(first, first + 40) });
}
