import { Q } from '../../db_connector/helper/helper.ts';
import { type Game, must } from './game.ts';
import { type Character, type Item, NAMESPACE, type Position } from './schema.ts';

/** Null if there is no such character. */
export async function loadCharacter(game: Game, id: number): Promise<Character | null> {
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'characters', { filter: Q.Eq('id', id), limit: 1 }),
  );
  return game.db.Rows<Character>(must(game, result, 'loading a character'))[0] ?? null;
}

/**
 * Saves what the game server alone decides. Money is not among it: while this character was in memory others may have
 * sent some, and writing back what was loaded would undo that. Money is only ever added to and taken from, with `inc`.
 */
export async function saveCharacter(game: Game, id: number, position: Position, inventory: readonly Item[]) {
  const change = {
    filter: Q.Eq('id', id),
    // `set` with the same values twice is the same as once: it may be repeated without a key.
    set: { position, inventory, last_seen: new Date().toISOString() },
  };
  const result = await game.ask(() => game.db.async.Update(NAMESPACE, 'characters', change));
  if (game.db.Number(must(game, result, 'saving a character')) === 0) {
    throw new Error(`saving a character: there is no character ${id}`);
  }
}

/** `Zoë O’Brien 🦊` → `zoe o’brien 🦊`: how a name is stored a second time, and how it is searched for. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
