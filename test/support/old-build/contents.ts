import type { SignedClient } from '../signed-client.ts';

/** Contents of a fixture of an old build: written by that build, read by the present one. */

/** The clock of the build that writes. The present one reads a minute later. */
export const WRITTEN_AT = Date.UTC(2026, 10, 24, 12);

export const WRITE_BEHIND = {
  namespaces: { stats: { consistentReads: true } },
  flushIntervalMs: 3_600_000,
  flushAtPending: 1_000_000,
};

const ALL_TYPES = {
  name: 'all_types',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'i', type: 'int32', nullable: true },
    { name: 'd', type: 'decimal', precision: 30, scale: 5, nullable: true },
    { name: 'f', type: 'float64', nullable: true },
    { name: 'b', type: 'bool', default: false },
    { name: 's', type: 'string', length: 40, nullable: true, unique: true },
    { name: 't', type: 'text', nullable: true },
    { name: 'j', type: 'json', nullable: true },
    { name: 'at', type: 'datetime', nullable: true },
    { name: 'day', type: 'date', nullable: true },
    { name: 'u', type: 'uuid', default: 'random' },
    { name: 'x', type: 'bytes', nullable: true },
    { name: 'folded', type: 'string', length: 40, derived: { from: 's', fold: true } },
    { name: 'level', type: 'int32', derived: { from: 'j', path: ['levels', 0] } },
  ],
  indexes: [{ name: 'by_level', columns: ['level', 'i'] }],
};
const PLAYERS = {
  name: 'players',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'name', type: 'string', length: 40 },
  ],
};
const MOTTO = { name: 'motto', type: 'string', length: 40, default: 'none' };
const NOTES = { name: 'notes', columns: [{ name: 'text', type: 'text' }] };
const SCORES = {
  name: 'scores',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'points', type: 'int64', default: 0 },
  ],
};
const PART = { name: 'phones', primaryKey: ['number'], columns: [{ name: 'number', type: 'string', length: 12 }] };

export const GAME = [ALL_TYPES, PLAYERS];
const GAME_BEFORE = [ALL_TYPES, { ...PLAYERS, columns: [...PLAYERS.columns, MOTTO] }, NOTES];

/** As text: no value becomes a double on its way. */
const ROWS = `[
  {"id":9007199254740993,"i":-2147483648,"d":"1234567890123456789012345.12345","f":0.1,"b":true,"s":"Zoë Äpfel",
   "t":"two\\nlines","j":{"levels":[7],"serial":9007199254740993},"at":"2024-02-29T12:00:00.123Z","day":"1999-12-31",
   "u":"00000000-0000-4000-8000-000000000001","x":"AAECAw=="},
  {"id":-9223372036854775808,"u":"ffffffff-ffff-4fff-bfff-ffffffffffff","f":-2.25e-7,"s":"","t":"","j":null,"x":""},
  {"id":9223372036854775807,"u":"00000000-0000-4000-8000-000000000002","i":2147483647,"d":"-0.00001","s":"🎉","day":"2024-02-29"}]`;

/** An insert with an idempotency key: repeated, it is answered as the first time. */
export const KEYED = {
  namespace: 'game',
  table: 'players',
  rows: [{ name: 'Bea', motto: 'kept' }, { name: 'Cem' }],
  idempotencyKey: 'made-by-the-old-build',
};
/** The same for a queued write. */
export const KEYED_QUEUED = {
  namespace: 'stats',
  table: 'scores',
  filter: { field: 'id', op: 'eq', value: 2 },
  inc: { points: 5 },
  idempotencyKey: 'queued-by-the-old-build',
};

/** Their answers, digit for digit, are part of the fixture. */
export const READS: readonly (readonly [operation: string, payload: object])[] = [
  ['find', { namespace: 'game', table: 'all_types', sort: [{ field: 'id', dir: 'asc' }] }],
  ['find', { namespace: 'game', table: 'all_types', filter: { field: 'folded', op: 'eq', value: 'ZOE APFEL' } }],
  ['find', { namespace: 'game', table: 'players', sort: [{ field: 'id', dir: 'asc' }] }],
  ['find', { namespace: 'game', table: 'phones' }],
  ['schema.describe', { namespace: 'game' }],
  ['schema.describe', { namespace: 'game', part: 'phone' }],
  ['schema.describe', { namespace: 'stats' }],
  ['insert', KEYED],
  ['update', KEYED_QUEUED],
];

export async function readAll(client: SignedClient): Promise<string[]> {
  const answers: string[] = [];
  for (const [operation, payload] of READS) {
    const { ok, text, body } = await client.call(operation, payload);
    if (!ok) throw new Error(`${operation}: ${body}`);
    answers.push(text);
  }
  return answers;
}

/** Applied once, the queued writes that wait make these rows of those that are in the table. */
export const SCORES_ONCE = [
  { id: 1, points: 111 },
  { id: 2, points: 5 },
  { id: 3, points: 0 },
];

export async function fill(client: SignedClient): Promise<void> {
  const call = (operation: string, payload: object | string) => client.must(operation, payload);
  await call('schema.sync', { namespace: 'game', schema: { tables: GAME_BEFORE } });
  await call('insert', `{"namespace":"game","table":"all_types","rows":${ROWS}}`);
  await call('insert', KEYED);
  await call('insert', { namespace: 'game', table: 'notes', rows: [{ text: 'milk' }, { text: 'bread' }] });
  await call('schema.sync', { namespace: 'game', schema: { tables: GAME } });
  await call('schema.extend', { namespace: 'game', part: 'phone', schema: { tables: [PART] } });
  await call('insert', { namespace: 'game', table: 'phones', rows: [{ number: '555-0100' }] });
  await fillQueue(client);
}

async function fillQueue(client: SignedClient): Promise<void> {
  const namespace = 'stats';
  const insert = (id: number) => client.must('insert', { namespace, table: 'scores', rows: [{ id }] });
  const add = (id: number, points: number) => {
    const filter = { field: 'id', op: 'eq', value: id };
    return client.must('update', { namespace, table: 'scores', filter, inc: { points } });
  };
  await client.must('schema.sync', { namespace, schema: { tables: [SCORES] } });
  await insert(1);
  await insert(2);
  await add(1, 1);
  await client.must('flush', { namespace });
  // A dead letter: the key is there already.
  await insert(1);
  await client.must('flush', { namespace });
  // Waits in the journal: `drainOnStopMs` is 0.
  await add(1, 10);
  await add(1, 100);
  await insert(3);
  await client.must('update', KEYED_QUEUED);
}
