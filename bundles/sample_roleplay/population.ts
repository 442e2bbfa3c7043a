import { Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import { toDecimal } from './money.ts';
import { JOBS, makeName } from './names.ts';
import type { Options } from './options.ts';
import { randomFrom } from './random.ts';
import { type Character, NAMESPACE } from './schema.ts';

const BATCH = 250;

/**
 * Gives birth to the town, once. Killed in the middle, it goes on after the last character that was born: ids are
 * given in order, each insert is all or nothing, and a character depends on the seed and its id alone.
 *
 * Returns how many characters there are.
 */
export async function populate(game: Game, { characters, seed }: Options): Promise<number> {
  const born = await readMilestone(game);
  if (born !== undefined) return born;

  let last = await lastId(game);
  game.log(`${last === 0 ? 'creating' : `${last} there already, creating the rest of`} ${characters} characters`);
  while (last < characters) {
    await createCharacters(game, last + 1, Math.min(last + BATCH, characters), seed);
    const reached = await lastId(game);
    if (reached <= last)
      throw new Error(`the characters after ${last} cannot be created: others use their phone numbers`);
    last = reached;
  }
  const milestone = { name: 'population', details: { characters, seed } };
  const result = await game.ask(() => game.db.async.Upsert(NAMESPACE, 'milestones', milestone, ['name']));
  must(game, result, 'noting that the town is there');
  return characters;
}

/** All of them or none. Some that are there already are no error: an attempt whose answer was lost put them there. */
async function createCharacters(game: Game, first: number, last: number, seed: number): Promise<void> {
  const rows = Array.from({ length: last - first + 1 }, (_, index) => makeCharacter(first + index, seed));
  const idempotencyKey = `birth:${seed}:${first}-${last}`;
  const result = await game.ask(() => game.db.async.Insert(NAMESPACE, 'characters', rows, { idempotencyKey }));
  if (result.Code !== 'constraint_violation') must(game, result, 'creating characters');
}

/** The same seed and id make the same character, on every machine. */
export function makeCharacter(id: number, seed: number) {
  const random = randomFrom(seed, id);
  const name = makeName(random);
  const money = toDecimal(BigInt(random.below(6_000_000)) + 50_000n);
  return {
    id,
    name,
    phone: `555-${String(id).padStart(7, '0')}`,
    job: random.pick(JOBS),
    money,
    paid_in: money,
    position: {
      x: random.below(8000) - 4000.25,
      y: random.below(8000) - 3000.5,
      z: 30.125,
      heading: random.below(360),
    },
    inventory: [
      { item: 'bread', count: 1 + random.below(5) },
      { item: 'water', count: 1 + random.below(5) },
    ],
  };
}

async function readMilestone(game: Game): Promise<number | undefined> {
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'milestones', { filter: Q.Eq('name', 'population'), limit: 1 }),
  );
  const [row] = game.db.Rows<{ details: { characters: number } }>(
    must(game, result, 'asking whether the town is there'),
  );
  return row?.details.characters;
}

async function lastId(game: Game): Promise<number> {
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'characters', { fields: ['id'], sort: Q.Sort('id', 'desc'), limit: 1 }),
  );
  const [row] = game.db.Rows<Pick<Character, 'id'>>(must(game, result, 'looking for the last character'));
  return row?.id ?? 0;
}
