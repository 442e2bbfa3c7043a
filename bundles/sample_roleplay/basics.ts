import type { Database, DbResult, Host } from '../db_connector/helper.js';
import type { Gate } from './gate.ts';
import type { Tally } from './tally.ts';

/** Tools that every part of this bundle uses. Made once, in server.ts. */
export interface Basics {
  readonly db: Database;
  /** Asks the database until it has answered: see ask.ts. */
  readonly ask: (call: () => Promise<DbResult>) => Promise<DbResult>;
  /** The database can do several writes as one: `capabilities` of `Health`. */
  hasTransactions: boolean;
  readonly gate: Gate;
  readonly tally: Tally;
  readonly log: Host['log'];
  /** Aborted when the bundle stops. */
  readonly signal: AbortSignal;
}
