import type { Collection, Db, Long } from 'mongodb';
import type { CallBounds } from '#engine/rows.ts';
import type { MongoSession } from '../session.ts';

/** Session of schema work. Nearly all of it may be done again, so it sends its statements itself. */
export type SchemaWork = Pick<MongoSession, 'db' | 'time' | 'look'>;

/** Runs work on the database within bounds; rejects with `ApiError`. */
export type RunSchemaWork = <T>(bounds: CallBounds, work: (work: SchemaWork) => Promise<T>) => Promise<T>;

/** The same for steps of a change. */
export interface StepWork extends SchemaWork {
  /**
   * Before each statement that changes rows, indexes or names: a sidecar that was stopped for long must not go on with a
   * change that another one has finished since. @throws ApiError `conflict_retry`
   */
  checkTurn(): Promise<void>;
}

export function withTurn(work: SchemaWork, checkTurn: StepWork['checkTurn']): StepWork {
  return { db: work.db, time: () => work.time(), look: (statement) => work.look(statement), checkTurn };
}

/** Namespace and time of a schema change. */
export interface SchemaPlace {
  readonly namespace: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * A part of a change that may be done again as long as no later step has begun. A sidecar that finishes a change begins
 * with the step that was cut off.
 */
export type Step = (work: StepWork) => Promise<void>;

/** `_meta`: a document for each fact; `format` is the version of the `_` collections. */
export interface MetaDocument {
  readonly _id: string;
  readonly value: number | string;
}

/** A change that runs, or was cut off. The tables are between two schemas until it is finished. */
export interface PendingChange {
  /** Sidecar that works on the change; another token means that another sidecar has taken it over. */
  readonly token: string;
  /** First step that is not certainly done; it may be done in part. */
  readonly position: number;
  /** Text of a `Plan`. */
  readonly plan: string;
}

/** `_schemas`: a document for each namespace. During its first sync a namespace has neither hash nor schema. */
export interface SchemaDocument {
  readonly _id: string;
  readonly revision: number;
  readonly hash?: string;
  /** JSON text of the normalised schema. */
  readonly schema?: string;
  /** ISO 8601 UTC. */
  readonly updatedAt?: string;
  /** Present while a change is prepared or runs: no operation on rows begins then. */
  readonly changing?: { readonly token: string };
  readonly pending?: PendingChange;
}

/** `_generators`: the highest numbers ever used under the name of a physical table; they outlive the table. */
export interface GeneratorDocument {
  readonly _id: string;
  /** Last number of `autoIncrement`. */
  readonly ids?: Long;
  /** Last number of `_n`, the order of insertion in tables without key. */
  readonly rows?: Long;
}

/** `_quarantine`: a document for each kept object. */
export interface QuarantineDocument {
  readonly _id: number;
  readonly namespace: string;
  readonly kind: 'table' | 'column';
  /** Declared names. */
  readonly table: string;
  readonly column: string | null;
  /** Collection of the kept values. */
  readonly physical: string;
  /** JSON text of the declared table or column, in the same form on every engine. */
  readonly definition: string;
  readonly rows: number;
  /** ISO 8601 UTC. */
  readonly quarantinedAt: string;
  /** Its collection is being dropped; the object must not be visible any more. */
  readonly isGone?: boolean;
}

export interface LockDocument {
  readonly _id: string;
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly renewedAt: number;
}

/** `_sidecars` also holds a document for each sidecar of the database, which says who it is. */
export interface PresenceDocument {
  readonly _id: string;
  readonly box: string;
  readonly url: string;
  readonly version: string;
  readonly seenAt: number;
}

export interface RevokedDocument {
  readonly _id: string;
  /** Epoch milliseconds. */
  readonly revokedAt: number;
}

/** `_sidecars`: sidecars that may have running operations on rows. */
export interface SidecarDocument {
  readonly _id: string;
  /** Another time at each renewal. Older programs read it as the end of the registration, by the clock of the server. */
  readonly until: Date;
  /** Longest time of its operations. */
  readonly callMs: number;
  /** Token of the change, by namespace, for which this sidecar runs no more operations. */
  readonly acks?: Readonly<Record<string, string>>;
}

export function metaOf(db: Db): Collection<MetaDocument> {
  return db.collection('_meta');
}

export function schemasOf(db: Db): Collection<SchemaDocument> {
  return db.collection('_schemas');
}

export function generatorsOf(db: Db): Collection<GeneratorDocument> {
  return db.collection('_generators');
}

export function quarantineOf(db: Db): Collection<QuarantineDocument> {
  return db.collection('_quarantine');
}

export function locksOf(db: Db): Collection<LockDocument> {
  return db.collection('_locks');
}

export function sidecarsOf(db: Db): Collection<SidecarDocument> {
  return db.collection('_sidecars');
}

export function presencesOf(db: Db): Collection<PresenceDocument> {
  return db.collection('_sidecars');
}

export function revokedOf(db: Db): Collection<RevokedDocument> {
  return db.collection('_revoked');
}

/** Other sidecars of this database. */
export interface Others {
  /** Resolves when no operation on rows of the namespace runs that began before the change `token` was announced. */
  wait(work: SchemaWork, namespace: string, token: string): Promise<void>;
}
