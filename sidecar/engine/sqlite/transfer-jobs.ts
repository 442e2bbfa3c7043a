import type { Database } from 'better-sqlite3';
import { findTable, type Table } from '#protocol/schema.ts';
import { hasGenerator } from '../model/physical-indexes.ts';
import { schemaOfText } from '../model/schema-text.ts';
import type { QueueRow } from '../queues.ts';
import type { GeneratorState, KeptObject, NewKeptObject } from '../transfer.ts';
import { physicalTable } from './names.ts';
import { writeQueue } from './queue/jobs.ts';
import { createTableSql } from './schema/ddl.ts';
import { lastId, rememberLastId, setLastId } from './schema/generators.ts';
import { register } from './schema/keep.ts';
import { quarantineRow, quarantineRows } from './schema/quarantine.ts';
import { readSchemaRow } from './schema/store.ts';
import type { Job, JobContext, JobRegistry } from './worker/jobs.ts';

/** The jobs by name: what goes in and what comes out, both as structured clones; `shape` is JSON text of a schema. */
export interface TransferJobTypes {
  readonly 'transfer.namespaces': { input: null; output: string[] };
  readonly 'transfer.readMark': { input: { name: string }; output: string | null };
  readonly 'transfer.writeMark': { input: { name: string; value: string | null }; output: null };
  readonly 'transfer.generators': { input: { namespace: string }; output: GeneratorState[] };
  readonly 'transfer.raise': { input: { namespace: string; states: readonly GeneratorState[] }; output: null };
  readonly 'transfer.writeQueue': { input: { row: QueueRow }; output: null };
  readonly 'transfer.kept': { input: { namespace: string }; output: KeptObject[] };
  readonly 'transfer.createKept': { input: { kept: NewKeptObject; shape: string }; output: KeptObject };
}

export type TransferJobName = keyof TransferJobTypes;

/** `transfer-calls.ts` is the only caller, and its types are the same table's. */
function job<Name extends TransferJobName>(
  on: Job['on'],
  run: (db: Database, input: TransferJobTypes[Name]['input']) => TransferJobTypes[Name]['output'],
): Job {
  return { on, run: ({ db }: JobContext, input) => run(db, input as TransferJobTypes[Name]['input']) };
}

export const TRANSFER_JOBS = {
  'transfer.namespaces': job<'transfer.namespaces'>('reader', (db) =>
    db.prepare<[], string>('SELECT namespace FROM _schemas ORDER BY namespace').pluck().all(),
  ),
  'transfer.readMark': job<'transfer.readMark'>('reader', (db, { name }) => {
    const value = db.prepare<[string], string>('SELECT value FROM _meta WHERE name = ?').pluck().get(name);
    return value ?? null;
  }),
  'transfer.writeMark': job<'transfer.writeMark'>('writer', (db, { name, value }) => {
    if (value === null) db.prepare('DELETE FROM _meta WHERE name = ?').run(name);
    else db.prepare('INSERT OR REPLACE INTO _meta (name, value) VALUES (?, ?)').run(name, value);
    return null;
  }),
  'transfer.generators': job<'transfer.generators'>('reader', (db, { namespace }) => readGenerators(db, namespace)),
  'transfer.raise': job<'transfer.raise'>('writer', (db, { namespace, states }) => {
    db.transaction(() => raiseGenerators(db, namespace, states)).immediate();
    return null;
  }),
  'transfer.writeQueue': job<'transfer.writeQueue'>('writer', (db, { row }) => {
    writeQueue(db, row);
    return null;
  }),
  'transfer.kept': job<'transfer.kept'>('reader', (db, { namespace }) => listKept(db, namespace)),
  'transfer.createKept': job<'transfer.createKept'>('writer', (db, { kept, shape }) =>
    db.transaction(() => createKept(db, kept, shape)).immediate(),
  ),
} satisfies JobRegistry & Record<TransferJobName, Job>;

/** Rows of a table without key have generated ids too. */
function countsIds(table: Table): boolean {
  return table.primaryKey === undefined || hasGenerator(table);
}

function declaredTables(db: Database, namespace: string): readonly Table[] {
  const stored = readSchemaRow(db, namespace);
  return stored === null ? [] : schemaOfText(stored.schema).tables;
}

function readGenerators(db: Database, namespace: string): GeneratorState[] {
  const remembered = db
    .prepare<[string], { table: string; lastId: bigint }>(
      'SELECT table_name AS "table", last_id AS lastId FROM _generators WHERE namespace = ?',
    )
    .safeIntegers()
    .all(namespace);
  const last = new Map(remembered.map((state) => [state.table, state.lastId]));
  for (const table of declaredTables(db, namespace).filter(countsIds)) {
    const own = lastId(db, physicalTable(namespace, table.name));
    const old = last.get(table.name) ?? 0n;
    last.set(table.name, own > old ? own : old);
  }
  return [...last].map(([table, id]) => ({ table, lastId: id }));
}

function raiseGenerators(db: Database, namespace: string, states: readonly GeneratorState[]): void {
  const schema = { tables: declaredTables(db, namespace) };
  for (const { table: name, lastId: last } of states) {
    const table = findTable(schema, name);
    if (table !== null && countsIds(table)) setLastId(db, physicalTable(namespace, name), last);
    rememberLastId(db, namespace, name, last);
  }
}

function listKept(db: Database, namespace: string): KeptObject[] {
  return quarantineRows(db, namespace).map(({ object, physical, definition }) => {
    const table = object.kind === 'table' ? findTable(schemaOfText(definition), object.table) : null;
    const last = table !== null && countsIds(table) ? lastId(db, physical) : null;
    return { ...object, physical, definition, lastId: last };
  });
}

function createKept(db: Database, kept: NewKeptObject, shapeText: string): KeptObject {
  const [shape] = schemaOfText(shapeText).tables;
  if (shape === undefined) throw new Error('a kept object has no shape');
  const { id, physical } = register(db, kept);
  db.exec(createTableSql(physical, shape));
  if (kept.lastId !== null) setLastId(db, physical, kept.lastId);
  const { object, definition } = quarantineRow(db, id);
  return { ...object, physical, definition, lastId: kept.lastId };
}
