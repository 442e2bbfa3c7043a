import type { EngineLog } from '#engine/log.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import type { Sessions } from '#engine/sql/session.ts';
import type { Flavour } from './types.ts';

/** Where and as what a change runs. */
export interface ChangeContext {
  readonly connection: SchemaConnection;
  readonly flavour: Flavour;
  readonly namespace: string;
  /** To which the change leads. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface SchemaCallOptions {
  readonly sessions: Sessions;
  /** Of the server; asked for inside a session only, when it is known. */
  readonly flavour: () => Flavour;
  readonly log: EngineLog;
}

/** With what a change runs. */
export interface SchemaTools {
  readonly connection: SchemaConnection;
  readonly flavour: Flavour;
  readonly log: EngineLog;
}
