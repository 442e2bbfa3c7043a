import type { Lease, Leases } from '#engine/cluster/leases.ts';
import type { EngineLog } from '#engine/log.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import type { Sessions } from '#engine/sql/session.ts';
import type { Flavour } from './types.ts';

/** Context of a change. */
export interface ChangeContext {
  readonly connection: SchemaConnection;
  readonly flavour: Flavour;
  readonly namespace: string;
  /** Revision after the change. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly lease: Lease;
  /** Names of tables that were taken away, by their physical names. */
  readonly places: Map<string, string>;
}

export interface SchemaCallOptions {
  readonly sessions: Sessions;
  readonly leases: Leases;
  /** Flavour of the server; call it only inside a session, when it is known. */
  readonly flavour: () => Flavour;
  readonly log: EngineLog;
}

/** Tools of a change. */
export interface SchemaTools {
  readonly connection: SchemaConnection;
  readonly flavour: Flavour;
  readonly log: EngineLog;
}
