import type { DbResult } from '../db_connector/helper.js';
import type { Autosave } from './autosave.ts';
import type { Basics } from './basics.ts';
import type { Statistics } from './statistics.ts';

/** The basics and the parts that keep something of their own. */
export interface Game extends Basics {
  readonly autosave: Autosave;
  readonly statistics: Statistics;
}

/**
 * The result, if the database did what it was asked. Throws where it refused: that is a mistake in the script, such as
 * an unknown column, and going on as if nothing had happened would hide it.
 */
export function must(game: Pick<Game, 'db'>, result: DbResult, what: string): DbResult {
  if (result.State === 'ok') return result;
  throw new Error(`${what}: ${game.db.ErrorMessage(result)}`);
}
