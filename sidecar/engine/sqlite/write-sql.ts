import type { Column } from '#protocol/columns.ts';
import { decimalOf, floorToScale } from '#protocol/decimal.ts';
import { ApiError } from '#protocol/errors.ts';
import { INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN } from '#protocol/limits.ts';
import type { Table } from '#protocol/schema.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { type Value, writeValue } from '#protocol/values.ts';
import { type Batch, type BatchOperation, idsIn, isDeferred, targetOf, writeIn } from '../batch.ts';
import { affectedExisting, upsertChange } from '../model/upsert-change.ts';
import type { Row, TableTarget, Write } from '../rows.ts';
import { type Physical, physicalOf, quoted, storageKind, toPhysical } from './dialect.ts';
import { whereSql } from './read-sql.ts';
import type { BatchStep, BatchWork, Generator, InsertWork, Refusal, WriteWork } from './worker/messages.ts';
import type { CallStatements, TellSteps } from './worker/pending-call.ts';

export function compileWrite(target: TableTarget, write: Write, statements: CallStatements): WriteWork {
  switch (write.op) {
    case 'insert':
      return compileInsert(target, write.rows, statements);
    case 'update':
      return compileUpdate(target, write, statements);
    case 'upsert':
      return compileUpsert(target, write, statements);
    case 'delete': {
      const params: Physical[] = [];
      const sql = `DELETE FROM ${tableSql(target)} ${whereSql(target.table, write.filter, params)}`;
      return { do: 'change', statement: statements.numberOf(target, sql), params, isSingleRow: false };
    }
    default:
      return write satisfies never;
  }
}

/** The same for a queued write: no caller waits for ids. */
export function compileQueued(target: TableTarget, write: Write, statements: CallStatements): WriteWork {
  return write.op === 'insert' ? insertWork(target, write.rows, statements) : compileWrite(target, write, statements);
}

function tableSql(target: TableTarget): string {
  return quoted(physicalOf(target));
}

function compileInsert(target: TableTarget, rows: readonly Row[], statements: CallStatements): WriteWork {
  const work = insertWork(target, rows, statements);
  return work.generator === null ? { ...work, ids: givenIds(target.table, rows) } : work;
}

function insertWork(target: TableTarget, rows: readonly Row[], statements: CallStatements): InsertWork {
  const { columns } = target.table;
  const values: Physical[] = [];
  for (const row of rows) for (const column of columns) values.push(rowParam(column, row));
  const { sql, generator } = insertPlanOf(target);
  return {
    do: 'insert',
    statement: statements.numberOf(target, sql),
    values,
    width: columns.length,
    ids: null,
    generator,
  };
}

interface InsertPlan {
  readonly sql: string;
  readonly generator: Generator | null;
}

/** The catalog keeps one target for a table as long as its schema holds. */
const insertPlans = new WeakMap<TableTarget, InsertPlan>();

function insertPlanOf(target: TableTarget): InsertPlan {
  let plan = insertPlans.get(target);
  if (plan === undefined) {
    plan = { sql: insertSql(target), generator: generatorOf(target) };
    insertPlans.set(target, plan);
  }
  return plan;
}

function insertSql(target: TableTarget): string {
  const names = target.table.columns.map((column) => quoted(column.name)).join(', ');
  const places = target.table.columns.map(() => '?').join(', ');
  return `INSERT INTO ${tableSql(target)} (${names}) VALUES (${places})`;
}

/** An absent column is generated: SQLite generates a row id for NULL. */
function rowParam(column: Column, row: Row): Physical {
  const value = toPhysical(column, row.get(column.name) ?? null);
  // A number travels to the writer's thread faster than a bigint.
  return typeof value === 'bigint' && value >= INT32_MIN && value <= INT32_MAX ? Number(value) : value;
}

function generatorOf(target: TableTarget): Generator | null {
  const position = target.table.columns.findIndex((column) => column.autoIncrement);
  const generated = target.table.columns[position];
  if (generated === undefined) return null;
  const maxId = generated.type === 'int32' ? BigInt(INT32_MAX) : INT64_MAX;
  return { table: physicalOf(target), maxId, position };
}

/** `ids` of an insert are returned for keys of a single column (the specification's InsertResult). */
function givenIds(table: Table, rows: readonly Row[]): string[] {
  const [name, ...others] = table.primaryKey ?? [];
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column === undefined || others.length > 0) return [];
  return rows.map((row) => writeValue(column, row.get(column.name) ?? null));
}

function compileUpdate(target: TableTarget, write: Write & { op: 'update' }, statements: CallStatements): WriteWork {
  const params: Physical[] = [];
  const changes = changesSql(target.table, write, params);
  const sql = `UPDATE ${tableSql(target)} SET ${changes} ${whereSql(target.table, write.filter, params)}`;
  const isSingleRow = [...write.inc.keys()].some((name) => isUnique(target.table, name));
  return { do: 'change', statement: statements.numberOf(target, sql), params, isSingleRow };
}

/** Assignments after SET. */
function changesSql(table: Table, { set, inc }: { readonly set: Row; readonly inc: Row }, params: Physical[]): string {
  const changes = table.columns.flatMap((column) => {
    const value = set.get(column.name);
    if (value !== undefined) return [setSql(column, value, params)];
    const amount = inc.get(column.name);
    return amount === undefined ? [] : [incSql(column, amount, params)];
  });
  return changes.join(', ');
}

/** SQLite collects the rows first and changes them in a second pass; only this guard can end the second pass. */
function setSql(column: Column, value: Value, params: Physical[]): string {
  params.push(toPhysical(column, value));
  return `${quoted(column.name)} = iif(guard(), ?, NULL)`;
}

function incSql(column: Column, amount: Value, params: Physical[]): string {
  const name = quoted(column.name);
  if (typeof amount === 'number' && column.type === 'float64') {
    params.push(amount);
    return `${name} = inc_float(${name}, ?)`;
  }
  if (column.type !== 'decimal') {
    const [min, max] = column.type === 'int32' ? [INT32_MIN, INT32_MAX] : [INT64_MIN, INT64_MAX];
    params.push(String(amount), String(min), String(max));
    return `${name} = inc_int(${name}, ?, ?, ?)`;
  }
  const precision = decimalPrecision(column);
  const { scaled } = floorToScale(decimalOf(String(amount)), decimalScale(column));
  if (storageKind(column) === 'wide') {
    params.push(scaled.toString(), BigInt(precision));
    return `${name} = inc_wide(${name}, ?, ?)`;
  }
  const limit = 10n ** BigInt(precision) - 1n;
  params.push(scaled.toString(), (-limit).toString(), limit.toString());
  return `${name} = inc_int(${name}, ?, ?, ?)`;
}

function isUnique(table: Table, name: string): boolean {
  const isDeclaredUnique = table.columns.some((column) => column.name === name && column.unique);
  return isDeclaredUnique || table.indexes.some((index) => index.unique && index.columns.includes(name));
}

function compileUpsert(target: TableTarget, write: Write & { op: 'upsert' }, statements: CallStatements): WriteWork {
  const { table } = target;
  const { insertFault } = write;
  const params: Physical[] = [];
  const changes = changesSql(table, upsertChange(write), params);
  const keys = table.columns.filter((column) => write.keys.includes(column.name));
  const where = keys.map((column) => {
    params.push(toPhysical(column, write.row.get(column.name) ?? null));
    return `${quoted(column.name)} = ?`;
  });
  const selector = `WHERE ${where.join(' AND ')}`;
  const sql =
    changes !== ''
      ? `UPDATE ${tableSql(target)} SET ${changes} ${selector}`
      : `SELECT 1 FROM ${tableSql(target)} ${selector}`;
  const insert = insertPlanOf(target);
  return {
    do: 'upsert',
    statement: statements.numberOf(target, sql),
    params,
    insert: statements.numberOf(target, insert.sql),
    row: table.columns.map((column) => rowParam(column, write.row)),
    generator: insert.generator,
    affectedExisting: affectedExisting(write),
    insertFault: insertFault === undefined ? null : { code: insertFault.code, message: insertFault.message },
  };
}

export interface BatchCall {
  readonly target: TableTarget;
  readonly work: BatchWork;
  readonly tell: TellSteps;
}

/** Compiles operations before the batch runs, and operations that need earlier ids when the worker asks. */
export function batchCall(batch: Batch, statements: CallStatements): BatchCall {
  const { operations, isAtomic } = batch;
  const stepOf = ({ target, expected }: BatchOperation, write: Write): BatchStep => ({
    work: compileWrite(target, write, statements),
    expected,
  });
  const steps = operations.map((operation) => {
    if (operation instanceof ApiError) return refusalOf(operation);
    return isDeferred(operation.write) ? null : stepOf(operation, operation.write);
  });
  const tell: TellSteps = ({ operation: asked, results }) => {
    const idsOf = (operation: number) => idsIn(results[operation] ?? '');
    const reply = operations.flatMap((operation, place): [number, BatchStep | Refusal][] => {
      if (operation instanceof ApiError || !isDeferred(operation.write)) return [];
      if (place < asked || operation.write.after >= asked) return [];
      try {
        return [[place, stepOf(operation, writeIn(operation, idsOf))]];
      } catch (error) {
        if (error instanceof ApiError) return [[place, refusalOf(error)]];
        throw error;
      }
    });
    return { steps: reply, statements: statements.used };
  };
  const work: BatchWork = { do: 'batch', isAtomic, steps };
  return { target: targetOf(batch), work, tell };
}

function refusalOf({ code, message }: ApiError): Refusal {
  return { code, message };
}
