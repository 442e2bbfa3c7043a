import { Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import { type Character, NAMESPACE } from './schema.ts';

/** Null if there is no such character. */
export async function loadCharacter(game: Game, id: number): Promise<Character | null> {
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'characters', { filter: Q.Eq('id', id), limit: 1 }),
  );
  return game.db.Rows<Character>(must(game, result, 'loading a character'))[0] ?? null;
}
