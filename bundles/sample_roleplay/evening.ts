import { setInterval } from 'node:timers/promises';
import { Q } from '../db_connector/helper.js';
import { ban, isBanned, liftExpiredBans } from './bans.ts';
import { loadCharacter } from './characters.ts';
import { type Game, must } from './game.ts';
import { deleteOldTransactions } from './ledger.ts';
import { payday } from './paycheck.ts';
import { deleteOldMessages, readInbox, sendMessage } from './phone.ts';
import { chance } from './random.ts';
import { NAMESPACE } from './schema.ts';
import { resumeTransfers, transfer } from './transfer.ts';
import { PRICES } from './vehicles.ts';

/** More than this at once means that the database is away or slow. Piling up more would help nobody. */
const MOST_AT_ONCE = 16;

interface Action {
  /** How often, compared with the others. */
  readonly weight: number;
  run(game: Game, population: number): Promise<void>;
}

/** Actions of a roleplay server in the evening, with their weights. */
const MIX: readonly [Action, ...Action[]] = [
  { weight: 30, run: join },
  { weight: 30, run: walk },
  { weight: 14, run: pay },
  { weight: 4, run: buyVehicle },
  { weight: 12, run: text },
  { weight: 6, run: browseInbox },
  { weight: 3, run: searchAsAdmin },
  { weight: 1, run: banSomebody },
];

/** Plays until the bundle stops, and returns when the last action has ended. */
export async function playEvening(game: Game, population: number, actionsPerSecond: number): Promise<void> {
  if (actionsPerSecond === 0) return;
  const running = new Set<Promise<void>>();
  try {
    for await (const _ of setInterval(1000 / actionsPerSecond, undefined, { signal: game.signal })) {
      if (running.size >= MOST_AT_ONCE) continue;
      const action = play(game, population);
      running.add(action);
      action.finally(() => running.delete(action));
    }
  } catch (error) {
    if (!game.signal.aborted) throw error;
  }
  await Promise.all(running);
}

/** Work that is due from time to time. Each step may run too often: then it does nothing. */
export async function keepHouse(game: Game): Promise<void> {
  game.tally.add('paychecks', await payday(game));
  game.tally.add('bans lifted', await liftExpiredBans(game));
  await resumeTransfers(game);
  await deleteOldMessages(game);
  await deleteOldTransactions(game);
}

/** Runs one action. An error is counted and logged, and the evening goes on. */
async function play(game: Game, population: number): Promise<void> {
  try {
    await chooseAction().run(game, population);
  } catch (error) {
    if (game.signal.aborted) return;
    game.tally.add('errors');
    game.log(error instanceof Error ? error.message : String(error));
  }
}

/** Each action has as many tickets as its weight; one ticket is drawn. */
function chooseAction(): Action {
  let ticket = chance.below(MIX.reduce((sum, { weight }) => sum + weight, 0));
  for (const action of MIX) {
    if (ticket < action.weight) return action;
    ticket -= action.weight;
  }
  return MIX[0];
}

const somebody = (population: number) => 1 + chance.below(population);

async function join(game: Game, population: number): Promise<void> {
  const id = somebody(population);
  if (await isBanned(game, id)) return game.tally.add('turned away');
  const character = await loadCharacter(game, id);
  if (!character) throw new Error(`there is no character ${id}`);
  game.tally.add('joined');
}

async function walk(game: Game, population: number): Promise<void> {
  const character = await loadCharacter(game, somebody(population));
  if (!character) return;
  const { position, inventory } = character;
  const moved = { ...position, x: position.x + chance.below(20) - 10, heading: chance.below(360) };
  const eaten = inventory.map((item) => ({ ...item, count: Math.max(0, item.count - chance.below(2)) }));
  game.autosave.note(character.id, moved, eaten);
  game.statistics.add(character.id, {
    seconds: 20 + chance.below(60),
    metres: Math.abs(Math.round(moved.x - position.x)),
    kills: chance.below(20) === 0 ? 1 : 0,
  });
}

async function pay(game: Game, population: number): Promise<void> {
  const [from, to] = [somebody(population), somebody(population)];
  if (from === to) return;
  const outcome = await transfer(game, { from, to, amount: BigInt(1 + chance.below(50_000)) });
  game.tally.add(outcome === 'done' ? 'transfers' : 'transfers refused');
}

async function buyVehicle(game: Game, population: number): Promise<void> {
  const [model, amount] = chance.pick([...PRICES] as [[string, bigint], ...[string, bigint][]]);
  const outcome = await transfer(game, { from: somebody(population), to: model, amount });
  game.tally.add(outcome === 'done' ? 'vehicles sold' : 'vehicles too dear');
}

async function text(game: Game, population: number): Promise<void> {
  const body = chance.pick(['on my way', "where's the money?", '10-4 🚓', 'à bientôt', 'sell me your Sultan']);
  await sendMessage(game, somebody(population), somebody(population), body);
  game.tally.add('messages');
}

/** At most three pages: nobody reads on. */
async function browseInbox(game: Game, population: number): Promise<void> {
  const owner = somebody(population);
  let next: number | undefined;
  for (let page = 1; page <= 3; page += 1) {
    ({ next } = await readInbox(game, owner, next));
    game.tally.add('pages read');
    if (next === undefined) return;
  }
}

async function searchAsAdmin(game: Game): Promise<void> {
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'characters', {
      filter: Q.Or(Q.Contains('search_name', chance.pick(["O'B", 'zoë', '🦊', 'müll'])), Q.Gte('money', 60_000)),
      fields: ['id', 'name', 'money'],
      sort: [Q.Sort('money', 'desc'), Q.Sort('name')],
      limit: 25,
    }),
  );
  must(game, result, 'searching');
  game.tally.add('searches');
}

async function banSomebody(game: Game, population: number): Promise<void> {
  await ban(game, somebody(population), 'drove on the pavement', 120);
  game.tally.add('bans');
}
