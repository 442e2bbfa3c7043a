import type { Database, DbResult, Host } from '../db_connector/helper.js';
import type { Autosave } from './autosave.ts';
import type { Gate } from './gate.ts';
import type { Statistics } from './statistics.ts';
import type { Tally } from './tally.ts';

/** What every part of this bundle works with. Made once, in server.ts. */
export interface Game {
  readonly db: Database;
  /** Asks the database until it has answered: see ask.ts. */
  readonly ask: (call: () => Promise<DbResult>) => Promise<DbResult>;
  /** The database can do several writes as one: `capabilities` of `Health`. */
  hasTransactions: boolean;
  readonly gate: Gate;
  readonly autosave: Autosave;
  readonly statistics: Statistics;
  readonly tally: Tally;
  readonly log: Host['log'];
  /** Aborted when the bundle stops. */
  readonly signal: AbortSignal;
}

/**
 * The result, if the database did what it was asked. Throws where it refused: that is a mistake in the script, such as
 * an unknown column, and going on as if nothing had happened would hide it.
 */
export function must(game: Game, result: DbResult, what: string): DbResult {
  if (result.State === 'ok') return result;
  throw new Error(`${what}: ${game.db.ErrorMessage(result)}`);
}
