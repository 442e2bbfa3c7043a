import { Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import { NAMESPACE } from './schema.ts';

/** Pay for an hour of work, by job. */
const WAGES: ReadonlyMap<string, string> = new Map([
  ['police', '62.50'],
  ['medic', '64.00'],
  ['mechanic', '48.75'],
  ['taxi', '31.20'],
  ['unemployed', '10.00'],
]);

/**
 * Pays everybody for the current hour, one call a job, however many they are. Returns how many were paid.
 *
 * The same update notes the hour in the row, and its filter asks for those where an earlier one stands. So it can be
 * repeated after a crash, after a year, or from two servers at once: an hour is paid once. (`Lt` never matches NULL,
 * which is why `last_paycheck` has a default.)
 */
export async function payday(game: Game, hour = Math.floor(Date.now() / 3_600_000)): Promise<number> {
  let paid = 0;
  for (const [job, wage] of WAGES) {
    const change = {
      filter: Q.And(Q.Eq('job', job), Q.Lt('last_paycheck', hour)),
      set: { last_paycheck: hour },
      inc: { money: Q.Number(wage), paid_in: Q.Number(wage) },
    };
    const result = await game.gate.move(() => game.ask(() => game.db.async.Update(NAMESPACE, 'characters', change)));
    paid += game.db.Number(must(game, result, 'payday'));
  }
  return paid;
}
