import { callApi } from '../call-api.ts';

/** The table of the comparison of engines. */
export const ITEMS = 20_000;
const GROUPS = ITEMS / 20;
export const NAMESPACE = 'bench';
const ROWS_PER_REQUEST = 1000;

export type EngineKind = 'findByKey' | 'list20' | 'insert' | 'insert500' | 'inc' | 'upsert';

export const ENGINE_KINDS: readonly EngineKind[] = ['findByKey', 'list20', 'insert', 'insert500', 'inc', 'upsert'];

/** Payload of a request, which the bare server reads too. */
export interface ItemPayload {
  readonly path: string;
  readonly next: () => object;
}

const NOTE = 'x'.repeat(120);
const TARGET = { namespace: NAMESPACE, table: 'items' };

function random(count: number): number {
  return 1 + Math.floor(Math.random() * count);
}

const byId = (id: number) => ({ field: 'id', op: 'eq', value: id });

/** Row number `n` of the table `inserts`. */
export const insertedRow = (n: number) => ({ name: `item ${n}`, grp: -1 - (n % 1000), hits: n % 1000, note: NOTE });
/** Row number `n` of the table `items`, counted from 0. */
export const itemRow = (n: number) => ({ ...insertedRow(n), grp: 1 + (n % GROUPS) });
export const randomItem = (): number => random(ITEMS);
export const randomGroup = (): number => random(GROUPS);

export function itemPayload(kind: EngineKind): ItemPayload {
  let count = 0;
  const table = { ...TARGET, table: 'inserts' };
  switch (kind) {
    case 'findByKey':
      return { path: '/v1/data/find', next: () => ({ ...TARGET, filter: byId(randomItem()) }) };
    case 'list20':
      return {
        path: '/v1/data/find',
        next: () => ({ ...TARGET, filter: { field: 'grp', op: 'eq', value: randomGroup() }, limit: 20 }),
      };
    case 'insert':
      return { path: '/v1/data/insert', next: () => ({ ...table, rows: [insertedRow(count++)] }) };
    case 'insert500':
      return {
        path: '/v1/data/insert',
        next: () => ({ ...table, rows: Array.from({ length: 500 }, () => insertedRow(count++)) }),
      };
    case 'inc':
      return { path: '/v1/data/update', next: () => ({ ...TARGET, filter: byId(randomItem()), inc: { hits: 1 } }) };
    case 'upsert':
      return {
        path: '/v1/data/upsert',
        next: () => ({
          ...TARGET,
          row: { id: randomItem(), name: 'again', grp: 1, hits: 1, note: NOTE },
          keys: ['id'],
        }),
      };
    default:
      return kind satisfies never;
  }
}

/** Declares the tables. */
export async function declareItems(port: number, secret: string, namespace: string): Promise<void> {
  const columns = [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'name', type: 'string', length: 60 },
    { name: 'grp', type: 'int32' },
    { name: 'hits', type: 'int64' },
    { name: 'note', type: 'string', length: 200 },
  ];
  const table = (name: string) => ({
    name,
    primaryKey: ['id'],
    columns,
    indexes: [{ name: 'by_grp', columns: ['grp'] }],
  });
  const schema = { tables: [table('items'), table('inserts')] };
  await callApi(port, secret, '/v1/schema/sync', { namespace, schema });
}

/** Declares the tables and fills them through the API itself. */
export async function prepareItems(port: number, secret: string): Promise<void> {
  await declareItems(port, secret, NAMESPACE);
  for (let done = 0; done < ITEMS; done += ROWS_PER_REQUEST) {
    const rows = Array.from({ length: ROWS_PER_REQUEST }, (_, index) => itemRow(done + index));
    await callApi(port, secret, '/v1/data/insert', { ...TARGET, rows });
  }
}
