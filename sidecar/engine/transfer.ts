import type { Table } from '#protocol/schema.ts';
import type { QueueRow } from './queues.ts';
import type { CallBounds } from './rows.ts';
import type { QuarantinedObject } from './schema-calls.ts';

/**
 * What moving whole namespaces needs beyond the ordinary calls (`sidecar/moving/`). Rows themselves go through `find`,
 * `count` and `write` of the engine, with two liberties of their `TableTarget` that no request of the API takes:
 *
 * - `physical` is where the rows lie instead of the declared table's own place: the table (or collection) of an object
 *   in quarantine. Everything else of the target stays true, the revision check of its namespace too.
 * - The table may be a storage form (`storage-form.ts`): a table without primary key shows its hidden row id as an
 *   int64 column `_id` that is the primary key and generated, first of all columns. Relational engines have a column of
 *   that name anyway; the document database maps it to its own field. What is kept of a quarantined column is a table
 *   with the columns `k0`, `k1`, … (the key, or the hidden id, of each row; the primary key) and `value`.
 *
 * So an insert gives every id explicitly, hidden ones too, and rows are read in key order, page by page.
 */
export interface Transfer {
  /** Namespaces that have a stored schema, by name. */
  listNamespaces(bounds: CallBounds): Promise<string[]>;

  /** A small value of the database itself (`_meta`), not of a namespace; null where there is none. */
  readMark(name: string, bounds: CallBounds): Promise<string | null>;
  /** Durable when it resolves; null removes it. */
  writeMark(name: string, value: string | null, bounds: CallBounds): Promise<void>;

  /**
   * The highest id ever given (0 for none), for every declared table with a generator, hidden ids included, and for
   * every name whose table is gone but whose generator is remembered.
   */
  readGenerators(namespace: string, bounds: CallBounds): Promise<GeneratorState[]>;
  /** Raises generators of declared tables, and remembers those of names that are not declared; never lowers one. */
  raiseGenerators(namespace: string, states: readonly GeneratorState[], bounds: CallBounds): Promise<void>;

  /** Sets the row of a queue as given, whoever owns it now. Durable when it resolves. */
  writeQueue(row: QueueRow, bounds: CallBounds): Promise<void>;
  /**
   * Whether a write beyond the row's position has changed rows already, which a crash in the middle of it leaves; only
   * without `transactions`. What is moved would have such a write twice.
   */
  hasHalfApplied(queue: QueueRow, bounds: CallBounds): Promise<boolean>;

  /** What is in quarantine of a namespace, oldest first. */
  listKept(namespace: string, bounds: CallBounds): Promise<KeptObject[]>;
  /**
   * Makes an empty kept object, whose rows are written afterwards. `shape` is the physical table to make: that of the
   * quarantined table itself, or `k0`, …, `value`; indexes and unique columns of it need not be made. Appears as a
   * whole or not at all; `rows` and `quarantinedAt` are taken as given.
   */
  createKept(kept: NewKeptObject, shape: Table, bounds: CallBounds): Promise<KeptObject>;
}

export interface GeneratorState {
  /** Declared name. */
  readonly table: string;
  readonly lastId: bigint;
}

export interface KeptObject extends QuarantinedObject {
  /** JSON text of the definition in quarantine, of one form on every engine (`_quarantine.definition`). */
  readonly definition: string;
  /** For `TableTarget.physical`. */
  readonly physical: string;
  /** Highest id that the generator of a quarantined table ever gave, hidden ids included; null without a generator. */
  readonly lastId: bigint | null;
}

export type NewKeptObject = Omit<KeptObject, 'id' | 'physical'>;
