import { findTable, type Schema } from '#protocol/schema.ts';
import type { Engine } from '../engine/engine.ts';
import { withTables } from '../engine/model/schema-parts.ts';
import type { Row } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { lastRow, readPages, tablePlace } from '../moving/place.ts';
import { grouped, MoveRefused, type MoveReport } from '../moving/report.ts';
import { applyWhole, growRevision, storedSchema } from '../moving/revision.ts';
import { lockForMove } from '../moving/source-hold.ts';
import { readMoveMark, writeMoveMark } from '../schema/move-mark.ts';
import type { MysqlConnection } from './mysql-connection.ts';
import type { Proposal, TablePlan } from './proposal.ts';
import { readRows } from './read-rows.ts';
import { RowSetSum } from './row-set-sum.ts';
import type { TimeZone } from './time-zone.ts';

export interface ImportWork {
  readonly connection: MysqlConnection;
  readonly engine: Engine;
  readonly namespace: string;
  readonly proposal: Proposal;
  readonly zone: TimeZone;
  /** Owner of the lock. */
  readonly report: MoveReport;
  readonly signal: AbortSignal;
}

const BATCH_ROWS = 500;
const BATCH_CHARS = 4_194_304;
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Makes the tables and copies the rows that fit. The namespace is closed meanwhile; what fails is undone, and what was
 * cut off is deleted by the next run. True if every table holds the same rows at the end.
 * @throws MoveRefused if the namespace has rows in tables of these names.
 */
export async function importTables(work: ImportWork): Promise<boolean> {
  const { engine, namespace } = work;
  const lock = await lockForMove(namespace, { engine });
  try {
    const before = await emptied(work);
    const tables = work.proposal.schema.tables.map(({ name }) => name);
    const mark = { kind: 'arriving', by: 'import', tables } as const;
    await patiently(() => writeMoveMark(engine, namespace, mark, statementBounds()));
    try {
      const stored = await applyWhole(engine, namespace, merged(before, work.proposal.schema));
      const isEqual = await importAll(work, stored);
      if (!isEqual) {
        work.report.say('NOT equal: does a script write to the old database? Stop it, and run the same command again');
        await undo(work, before);
        return false;
      }
      await patiently(() => writeMoveMark(engine, namespace, null, statementBounds()));
      return true;
    } catch (error) {
      await undo(work, before);
      throw error;
    }
  } finally {
    await lock.release();
  }
}

/** The namespace's other tables. What an import that was cut off has left is deleted, whatever this one imports. */
async function emptied({ engine, namespace, proposal, report }: ImportWork): Promise<Schema> {
  const mark = await patiently(() => readMoveMark(engine, namespace, Date.now(), statementBounds()));
  if (mark !== null && !(mark.kind === 'arriving' && mark.by === 'import')) {
    throw new MoveRefused(`namespace ${namespace} is being copied, or a copy into it was cut off; finish that first`);
  }
  if ((await storedSchema(engine, namespace)) === null) return { tables: [] };
  const stored = await growRevision(engine, namespace);
  const left = stored.schema.tables.filter((table) => mark?.tables.includes(table.name) === true);
  const same = stored.schema.tables.filter((table) => findTable(proposal.schema, table.name) !== null);
  await refuseOccupied(
    engine,
    stored,
    same.filter((table) => !left.includes(table)),
  );
  if (mark !== null) report.say(`${namespace}: deletes what an import that was cut off has left`);
  const staying = stored.schema.tables.filter((table) => !same.includes(table) && !left.includes(table));
  const others = withTables(stored.schema, staying);
  if (others.tables.length < stored.schema.tables.length) await applyWhole(engine, namespace, others);
  return others;
}

async function refuseOccupied(engine: Engine, stored: StoredSchema, tables: Schema['tables']): Promise<void> {
  const occupied: string[] = [];
  for (const table of tables) {
    if ((await lastRow(engine, tablePlace(stored, table))) !== null) occupied.push(table.name);
  }
  if (occupied.length === 0) return;
  throw new MoveRefused(
    `namespace ${stored.namespace} has rows in ${occupied.join(', ')} already; nothing was changed. Import into another namespace, or only other tables (--tables)`,
  );
}

function merged(before: Schema, added: Schema): Schema {
  return withTables(before, [...before.tables, ...added.tables]);
}

/** If the undo fails, the first failure is reported and not this one: the mark stays then, and the next run deletes. */
async function undo({ engine, namespace, report }: ImportWork, before: Schema): Promise<void> {
  try {
    await applyWhole(engine, namespace, before);
    await writeMoveMark(engine, namespace, null, statementBounds());
    report.say(`${namespace}: the imported tables were removed again`);
  } catch {
    report.say(`${namespace}: the tables that were begun stay closed; the same command deletes them and begins anew`);
  }
}

async function importAll(work: ImportWork, stored: StoredSchema): Promise<boolean> {
  const cells: string[][] = [];
  let isEqual = true;
  for (const plan of work.proposal.plans) {
    const { rows, skipped, isSame } = await importTable(work, stored, plan);
    const word = isSame ? 'equal' : 'DIFFERENT';
    const left = skipped === 0 ? '' : `, ${grouped(skipped)} left out`;
    cells.push([plan.source.name, `${work.namespace}.${plan.table.name}`, grouped(rows), `${word}${left}`]);
    isEqual = isSame && isEqual;
  }
  await raiseGenerators(work);
  work.report.end();
  work.report.table(['FROM', 'TABLE', 'ROWS', ''], cells, ['ROWS']);
  return isEqual;
}

async function importTable(
  work: ImportWork,
  stored: StoredSchema,
  plan: TablePlan,
): Promise<{ rows: number; skipped: number; isSame: boolean }> {
  const { engine, namespace, connection, zone, report, signal } = work;
  const table = findTable(stored.schema, plan.table.name);
  if (table === null) throw new Error(`table ${plan.table.name} was not made`);
  const target = { namespace, revision: stored.revision, table };
  const sum = new RowSetSum(table.columns);
  report.begin(`imports ${plan.source.name}`, plan.rows);
  let skipped = 0;
  let batch: Row[] = [];
  let chars = 0;
  const flush = async (): Promise<void> => {
    signal.throwIfAborted();
    // Not repeated after a failure: what of it took effect is not known without ids, and the import is undone.
    if (batch.length > 0) await engine.write(target, { op: 'insert', rows: batch }, null, statementBounds());
    report.advance(batch.length);
    batch = [];
    chars = 0;
  };
  for await (const { row } of readRows(connection, plan, zone)) {
    if (row === null) {
      skipped += 1;
      continue;
    }
    chars += sum.add(row);
    batch.push(row);
    if (batch.length === BATCH_ROWS || chars >= BATCH_CHARS) await flush();
  }
  await flush();
  // MySQL has counted them itself.
  const isWhole = sum.rows + skipped === plan.rows;
  return { rows: sum.rows, skipped, isSame: isWhole && sum.equals(await sumOf(engine, stored, table)) };
}

async function sumOf(engine: Engine, stored: StoredSchema, table: TablePlan['table']): Promise<RowSetSum> {
  const sum = new RowSetSum(table.columns);
  for await (const { rows } of readPages(engine, tablePlace(stored, table), null)) for (const row of rows) sum.add(row);
  return sum;
}

/** A counter beyond the numbers that are counted here is at its end. */
function lastIdOf(nextId: bigint): bigint {
  return nextId > MAX_INT64 ? MAX_INT64 : nextId - 1n;
}

/** MySQL's counters may be ahead of the rows: those ids were given, and are not given again. */
async function raiseGenerators({ engine, namespace, proposal }: ImportWork): Promise<void> {
  const states = proposal.plans.flatMap(({ source, table }) => {
    const counts = table.columns.some((column) => column.autoIncrement);
    return counts && source.nextId !== null ? [{ table: table.name, lastId: lastIdOf(source.nextId) }] : [];
  });
  await patiently(() => engine.transfer.raiseGenerators(namespace, states, statementBounds()));
}
