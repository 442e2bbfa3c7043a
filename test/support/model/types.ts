/**
 * A second implementation of the data operations in plain TypeScript, from the specification and the contract alone. It
 * imports nothing of what it judges: numbers are bigints, text is compared by its UTF-8 bytes, a database is arrays of rows.
 */

export type ColumnType =
  | 'int32'
  | 'int64'
  | 'decimal'
  | 'float64'
  | 'bool'
  | 'string'
  | 'text'
  | 'json'
  | 'datetime'
  | 'date'
  | 'uuid'
  | 'bytes';

export const COLUMN_TYPES: readonly ColumnType[] = [
  'int32',
  'int64',
  'decimal',
  'float64',
  'bool',
  'string',
  'text',
  'json',
  'datetime',
  'date',
  'uuid',
  'bytes',
];

/** Both integers: a bigint. decimal: a bigint, times 10^scale. json, datetime, date, uuid, bytes: the text that is returned. */
export type ModelValue = null | boolean | number | bigint | string;

/** A sent value and its meaning; `refusal` is the code if the column cannot hold it. */
export interface Cell {
  /** JSON text. */
  readonly text: string;
  readonly value: ModelValue;
  readonly refusal?: string;
  /** Stands for an id that an earlier operation of the batch gives; value and refusal are known with it. */
  readonly result?: ModelReference;
}

/** Row of an operation of the same batch. */
export interface ModelReference {
  readonly operation: number;
  readonly row: number;
}

export type Cells = Readonly<Record<string, Cell>>;

export interface ModelColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Length of a string. */
  readonly length: number;
  /** Digits of a decimal. */
  readonly precision: number;
  readonly scale: number;
  readonly nullable: boolean;
  readonly unique: boolean;
  readonly autoIncrement: boolean;
  readonly default: Cell | null;
}

export interface ModelTable {
  readonly name: string;
  readonly primaryKey: readonly string[];
  readonly columns: readonly ModelColumn[];
  readonly indexes: readonly { readonly name: string; readonly columns: readonly string[]; readonly unique: boolean }[];
}

/** A number of a filter: `digits` divided by 10^scale, of any size. */
export interface ExactNumber {
  readonly digits: bigint;
  readonly scale: number;
}

export interface Operand {
  /** JSON text. */
  readonly text: string;
  readonly value: null | boolean | number | string | ExactNumber;
  readonly result?: ModelReference;
}

export type ModelFilter =
  | { readonly kind: 'and' | 'or'; readonly members: readonly ModelFilter[] }
  | { readonly kind: 'not'; readonly member: ModelFilter }
  | { readonly kind: 'condition'; readonly field: string; readonly op: string; readonly operands: readonly Operand[] };

export interface ModelSort {
  readonly field: string;
  readonly dir: 'asc' | 'desc';
}

/** A request of a program. `filter` null: all of the rows. */
export type Step =
  | { readonly op: 'insert'; readonly table: string; readonly rows: readonly Cells[]; readonly key: string | null }
  | {
      readonly op: 'update';
      readonly table: string;
      readonly filter: ModelFilter | null;
      readonly set: Cells;
      readonly inc: Cells;
      readonly key: string | null;
    }
  | {
      readonly op: 'upsert';
      readonly table: string;
      readonly row: Cells;
      readonly keys: readonly string[];
      /** Null: not named. */
      readonly update: readonly string[] | null;
      readonly inc: Cells;
      readonly key: string | null;
    }
  | {
      readonly op: 'delete';
      readonly table: string;
      readonly filter: ModelFilter | null;
      readonly key: string | null;
    }
  | {
      readonly op: 'find';
      readonly table: string;
      readonly filter: ModelFilter | null;
      /** Null: all of them. */
      readonly fields: readonly string[] | null;
      readonly sort: readonly ModelSort[];
      readonly limit: number | null;
      readonly offset: number;
    }
  | { readonly op: 'count'; readonly table: string; readonly filter: ModelFilter | null }
  | {
      readonly op: 'aggregate';
      readonly table: string;
      readonly filter: ModelFilter | null;
      readonly groupBy: readonly string[];
      readonly values: readonly ModelAggregate[];
      /** By names of the answer. */
      readonly sort: readonly ModelSort[];
      readonly limit: number | null;
      readonly offset: number;
    }
  | {
      readonly op: 'batch';
      readonly operations: readonly BatchMember[];
      readonly atomic: boolean;
      readonly key: string | null;
    };

export type StepOf<Op extends Step['op']> = Extract<Step, { op: Op }>;

/** `key` is null inside a batch. */
export type WriteStep = StepOf<'insert' | 'update' | 'upsert' | 'delete'>;

export interface BatchMember {
  readonly write: WriteStep;
  /** `expect.affected`. */
  readonly expected: number | null;
}

export interface ModelAggregate {
  readonly as: string;
  readonly fn: 'count' | 'countDistinct' | 'sum' | 'min' | 'max';
  /** Null: rows are counted. */
  readonly field: string | null;
}

export interface Program {
  readonly tables: readonly ModelTable[];
  readonly steps: readonly Step[];
}

/** Capabilities of the engine below (contract section 11), as given to the model. */
export interface ModelCapabilities {
  readonly transactions: boolean;
  readonly filterableJson: boolean;
  /** Most digits after the point of a decimal. */
  readonly maxDecimalScale: number;
}

export function columnOf(table: ModelTable, name: string): ModelColumn | undefined {
  return table.columns.find((column) => column.name === name);
}

/** Names of the tables that a step is about, each once. */
export function tablesOf(step: Step): readonly string[] {
  return step.op === 'batch' ? [...new Set(step.operations.map(({ write }) => write.table))] : [step.table];
}

/** Sets of columns whose values no two rows may share, the primary key first. */
export function uniqueSetsOf(table: ModelTable): (readonly string[])[] {
  return [
    table.primaryKey,
    ...table.columns.filter((column) => column.unique).map((column) => [column.name]),
    ...table.indexes.filter((index) => index.unique).map((index) => index.columns),
  ].filter((set) => set.length > 0);
}
