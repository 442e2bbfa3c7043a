import type { Filter } from './filters.ts';
import { isPlainObject, jsonText, kindOf, objectText } from './json-text.ts';
import { checkNames, namesOf, UnknownName } from './known-names.ts';
import { type Member, optional, parts, payload } from './payload-parts.ts';
import type { Row } from './rows.ts';
import type { JsonText, ResultReference } from './typed-text.ts';
import {
  CHANGE_NAMES,
  type Change,
  deleteMembers,
  EXISTING_NAMES,
  type Existing,
  insertMembers,
  type Selection,
  updateMembers,
  upsertMembers,
} from './writes.ts';

/** Required result of an operation, or the whole batch is undone with `expectation_failed`. */
export interface Expectation {
  /** How many rows it must insert, change or delete. */
  readonly expect?: number | { readonly affected: number } | undefined;
}

interface InsertOperation extends Expectation {
  readonly op: 'insert';
  readonly table: string;
  readonly rows: Row | readonly Row[];
}

interface UpdateOperation extends Expectation, Change {
  readonly op: 'update';
  readonly table: string;
}

interface UpsertOperation extends Expectation, Existing {
  readonly op: 'upsert';
  readonly table: string;
  readonly row: Row;
  readonly keys: readonly string[];
}

interface DeleteOperation extends Expectation {
  readonly op: 'delete';
  readonly table: string;
  readonly filter?: Filter | undefined;
  readonly all?: boolean | undefined;
}

/** A write of a batch as a plain object; `Q.Op` makes the same as text. */
export type Operation = InsertOperation | UpdateOperation | UpsertOperation | DeleteOperation;

/** The writes of a batch, each with the arguments of the method of that name, less the namespace. */
export interface OperationBuilders {
  /** `Q.Op.Insert('bank_log', { from_id: 1, to_id: 2, amount: 50 })` */
  Insert(table: string, rows: Row | readonly Row[], options?: Expectation): JsonText;
  /** `Q.Op.Update('characters', { filter: Q.Eq('id', 1), inc: { money: -50 } }, { expect: 1 })` */
  Update(table: string, change: Change, options?: Expectation): JsonText;
  /** `Q.Op.Upsert('settings', { name: 'weather', value: 'rain' }, ['name'])` */
  Upsert(table: string, row: Row, keys: readonly string[], options?: Expectation & Existing): JsonText;
  /** `Q.Op.Delete('vehicles', Q.Eq('owner_id', 7))` */
  Delete(table: string, selection: Selection, options?: Expectation): JsonText;
}

export interface BatchBuilders {
  readonly Op: OperationBuilders;
  /**
   * The id of row `row` that operation `operation` of the same atomic batch inserts, both counted from 0:
   * `Q.Op.Insert('vehicles', { owner_id: Q.Result(0) })`.
   */
  Result(operation: number, row?: number): ResultReference;
}

const EXPECTATION_NAMES = namesOf<Expectation>({ expect: true });
const UPSERT_NAMES = [...EXPECTATION_NAMES, ...EXISTING_NAMES];
/** Names that an operation as a plain object may have. */
const OPERATION_NAMES: Readonly<Record<Operation['op'], readonly string[]>> = {
  insert: namesOf<InsertOperation>({ op: true, table: true, rows: true, expect: true }),
  update: ['op', 'table', ...CHANGE_NAMES, ...EXPECTATION_NAMES],
  upsert: ['op', 'table', 'row', 'keys', ...UPSERT_NAMES],
  delete: namesOf<DeleteOperation>({ op: true, table: true, filter: true, all: true, expect: true }),
};

function operationText(op: Operation['op'], members: readonly Member[], { expect }: Expectation): JsonText {
  return payload([['op', `"${op}"`], ...members, ['expect', optional(expect, expectationText)]]);
}

function expectationText(expect: number | { readonly affected: number }): JsonText {
  if (typeof expect === 'number') return `{"affected":${jsonText(expect, 'expect')}}`;
  if (isPlainObject(expect)) checkNames(expect, ['affected'], 'expect');
  return jsonText(expect, 'expect');
}

/** An operation of a batch, as text from `Q.Op` or a plain object. Throws `TypeError` if it is none. */
function givenText(given: unknown, path: string): JsonText {
  if (!isPlainObject(given)) return objectText(given, path, 'an operation such as Q.Op.Insert(…)');
  try {
    if ('op' in given && Object.hasOwn(OPERATION_NAMES, String(given.op))) {
      checkNames(given, OPERATION_NAMES[given.op as Operation['op']], String(given.op));
    }
    return plainOperationText(given as Operation);
  } catch (error) {
    const message = `${path}: ${error instanceof Error ? error.message : String(error)}`;
    throw error instanceof UnknownName ? new UnknownName(message) : new TypeError(message);
  }
}

function plainOperationText(given: Operation): JsonText {
  switch (given.op) {
    case 'insert':
      return operationText('insert', insertMembers(given.table, given.rows), given);
    case 'update':
      return operationText('update', updateMembers(given.table, given), given);
    case 'upsert':
      return operationText('upsert', upsertMembers(given.table, given.row, given.keys, given), given);
    case 'delete':
      return operationText('delete', deleteMembers(given.table, { filter: given.filter, all: given.all }), given);
    default:
      throw new TypeError(
        `op: expected insert, update, upsert or delete, got ${String((given as { op?: unknown }).op)}`,
      );
  }
}

/** JSON text of a list of upserts, one for each row. */
export function upsertsText(
  table: string,
  rows: readonly Row[],
  keys: readonly string[],
  existing: Existing,
): JsonText {
  const texts = rows.map((row, index) =>
    operationText('upsert', upsertMembers(table, row, keys, existing, `rows[${index}]`), {}),
  );
  return `[${texts.join(',')}]`;
}

/** JSON text of the list of operations. */
export function operationsText(operations: unknown): JsonText {
  if (!Array.isArray(operations)) {
    throw new TypeError(`operations: expected a list of Q.Op.Insert(…) and others, got ${kindOf(operations)}`);
  }
  return `[${operations.map((given, index) => givenText(given, `operations[${index}]`)).join(',')}]`;
}

function reference(operation: number, row = 0): ResultReference {
  for (const place of [operation, row]) {
    if (!Number.isInteger(place) || place < 0) throw new TypeError(`Q.Result: expected places from 0, got ${place}`);
  }
  return { $result: [operation, row] };
}

function expectation(options: Expectation | undefined): Expectation {
  return parts(options, 'options', EXPECTATION_NAMES);
}

export const batchBuilders: BatchBuilders = {
  Op: Object.freeze<OperationBuilders>({
    Insert: (table, rows, options) => operationText('insert', insertMembers(table, rows), expectation(options)),
    Update: (table, change, options) =>
      operationText('update', updateMembers(table, parts(change, 'change', CHANGE_NAMES)), expectation(options)),
    Upsert: (table, row, keys, options) => {
      const given = parts(options, 'options', UPSERT_NAMES);
      return operationText('upsert', upsertMembers(table, row, keys, given), given);
    },
    Delete: (table, selection, options) =>
      operationText('delete', deleteMembers(table, selection), expectation(options)),
  }),
  Result: reference,
};
