import { randomUUID } from 'node:crypto';
import { Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import { NAMESPACE } from './schema.ts';

export async function ban(game: Game, character: number, reason: string, seconds: number): Promise<void> {
  const idempotencyKey = randomUUID();
  const row = { character_id: character, reason, until_at: Q.Now(seconds) };
  const result = await game.ask(() => game.db.async.Insert(NAMESPACE, 'bans', row, { idempotencyKey }));
  must(game, result, 'banning');
}

/** Whether there is one is all that is asked for, so one row with one field is enough. */
export async function isBanned(game: Game, character: number): Promise<boolean> {
  const filter = Q.And(Q.Eq('character_id', character), Q.Gt('until_at', Q.Now()));
  const result = await game.ask(() => game.db.async.Find(NAMESPACE, 'bans', { filter, fields: ['id'], limit: 1 }));
  return game.db.Rows(must(game, result, 'looking for a ban')).length > 0;
}

export async function liftExpiredBans(game: Game): Promise<number> {
  const result = await game.ask(() => game.db.async.Delete(NAMESPACE, 'bans', Q.Lte('until_at', Q.Now())));
  return game.db.Number(must(game, result, 'lifting bans'));
}
