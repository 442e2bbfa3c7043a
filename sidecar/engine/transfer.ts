import type { Table } from '#protocol/schema.ts';
import type { QueueRow } from './queues.ts';
import type { CallBounds } from './rows.ts';
import type { QuarantinedObject } from './schema-calls.ts';

/**
 * Calls for moving whole namespaces, beyond the ordinary ones (`sidecar/moving/`). Rows go through `find`, `count` and
 * `write` of the engine, with two liberties of their `TableTarget` that no request of the API has:
 *
 * - `physical` names the table (or collection) of an object in quarantine, instead of the declared table's own. All else
 *   of the target stays true, also the revision check of its namespace.
 * - The table may be a storage form (`storage-form.ts`): a table without primary key has its hidden row id as an int64
 *   column `_id`, first of all columns, generated and primary key. Relational engines have a column of that name; the
 *   document database maps it to its own field. A kept column is a table with the columns `k0`, `k1`, … (the key, or the
 *   hidden id, of each row; the primary key) and `value`.
 *
 * So an insert names every id, also hidden ones, and rows are read in key order, page by page.
 */
export interface Transfer {
  /** Namespaces that have a stored schema, by name. */
  listNamespaces(bounds: CallBounds): Promise<string[]>;

  /** A small value of the database itself (`_meta`), not of a namespace; null if it is not set. */
  readMark(name: string, bounds: CallBounds): Promise<string | null>;
  /** Durable when it resolves; null removes it. */
  writeMark(name: string, value: string | null, bounds: CallBounds): Promise<void>;

  /**
   * The highest id ever generated (0 for none): for every declared table with a generator, also of hidden ids, and for
   * every name whose table is gone but whose generator is remembered.
   */
  readGenerators(namespace: string, bounds: CallBounds): Promise<GeneratorState[]>;
  /**
   * Raises generators of declared tables, and remembers generators of names that are not declared. Never lowers one.
   */
  raiseGenerators(namespace: string, states: readonly GeneratorState[], bounds: CallBounds): Promise<void>;

  /** Sets the row of a queue as given, whichever journal owns it. Durable when it resolves. */
  writeQueue(row: QueueRow, bounds: CallBounds): Promise<void>;
  /**
   * Whether a write beyond the row's position has changed rows already, after a crash in its middle; only without
   * `transactions`. A moved namespace would apply such a write twice.
   */
  hasHalfApplied(queue: QueueRow, bounds: CallBounds): Promise<boolean>;

  /** Objects of a namespace in quarantine, oldest first. */
  listKept(namespace: string, bounds: CallBounds): Promise<KeptObject[]>;
  /**
   * Makes an empty kept object; its rows are written afterwards. `shape` is the physical table to make: the quarantined
   * table itself, or `k0`, …, `value`. Its indexes and unique columns need not be made. Appears as a whole or not at
   * all; `rows` and `quarantinedAt` are taken as given.
   */
  createKept(kept: NewKeptObject, shape: Table, bounds: CallBounds): Promise<KeptObject>;
}

export interface GeneratorState {
  /** Declared name. */
  readonly table: string;
  readonly lastId: bigint;
}

export interface KeptObject extends QuarantinedObject {
  /** JSON text of the definition in quarantine; the same form on every engine (`_quarantine.definition`). */
  readonly definition: string;
  /** For `TableTarget.physical`. */
  readonly physical: string;
  /** Highest id that the generator of a quarantined table ever made, also of hidden ids; null without a generator. */
  readonly lastId: bigint | null;
}

export type NewKeptObject = Omit<KeptObject, 'id' | 'physical'>;
