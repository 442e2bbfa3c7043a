import type { Collection, Db, Long } from 'mongodb';
import type { CallBounds } from '#engine/rows.ts';
import type { MongoSession } from '../session.ts';

/** What a schema job works with. Nearly all that it does may be done again, so it sends its statements by itself. */
export type SchemaWork = Pick<MongoSession, 'db' | 'time' | 'look'>;

/** Runs work on the database within bounds; rejects with `ApiError`. */
export type RunSchemaWork = <T>(bounds: CallBounds, work: (work: SchemaWork) => Promise<T>) => Promise<T>;

/** Namespace and time of a schema change. */
export interface SchemaPlace {
  readonly namespace: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * A part of a change that may be done again as long as nothing after it has begun: a sidecar that finishes a change that
 * was cut off begins with the step that was under way.
 */
export type Step = (work: SchemaWork) => Promise<void>;

/** `_meta`: one document a fact; `format` holds the version of the `_` collections. */
export interface MetaDocument {
  readonly _id: string;
  readonly value: number | string;
}

/** A change that is under way, or was cut off. The tables are somewhere between two schemas until it is finished. */
export interface PendingChange {
  /** Whoever works on the change; another token means that somebody else has taken it over. */
  readonly token: string;
  /** The first step that is not surely done; the one at this place may be done in part. */
  readonly position: number;
  /** Text of a `Plan`. */
  readonly plan: string;
}

/** `_schemas`: one document a namespace. A namespace whose first sync is under way has neither hash nor schema. */
export interface SchemaDocument {
  readonly _id: string;
  readonly revision: number;
  readonly hash?: string;
  /** JSON text of the normalised schema. */
  readonly schema?: string;
  /** ISO 8601 UTC. */
  readonly updatedAt?: string;
  /** Present while a change is prepared or under way: no operation on rows begins then. */
  readonly changing?: { readonly token: string };
  readonly pending?: PendingChange;
}

/** `_generators`: the highest numbers ever given under a physical table's name; they outlive the table. */
export interface GeneratorDocument {
  readonly _id: string;
  /** Of `autoIncrement`. */
  readonly ids?: Long;
  /** Of `_n`, the order of insertion in tables without key. */
  readonly rows?: Long;
}

/** `_quarantine`: one document a kept object. */
export interface QuarantineDocument {
  readonly _id: number;
  readonly namespace: string;
  readonly kind: 'table' | 'column';
  /** Declared names. */
  readonly table: string;
  readonly column: string | null;
  /** Collection that holds what was kept. */
  readonly physical: string;
  /** JSON text of the table or column as it was declared, of one form on every engine. */
  readonly definition: string;
  readonly rows: number;
  /** ISO 8601 UTC. */
  readonly quarantinedAt: string;
  /** Its collection is being dropped; nobody may see it any more. */
  readonly isGone?: boolean;
}

export interface LockDocument {
  readonly _id: string;
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly renewedAt: number;
}

/** `_sidecars`: those that may have operations on rows under way. */
export interface SidecarDocument {
  readonly _id: string;
  /** By the server's clock; not renewed, it is gone. */
  readonly until: Date;
  /** How long an operation of it may take. */
  readonly callMs: number;
  /** By namespace: the change for which nothing of this sidecar runs any more. */
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

/** Other sidecars of this database. */
export interface Others {
  /** Resolves when no operation on rows of the namespace runs that began before the change `token` was announced. */
  wait(work: SchemaWork, namespace: string, token: string): Promise<void>;
}
