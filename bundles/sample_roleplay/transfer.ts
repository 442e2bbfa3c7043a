/**
 * Money from one character to another, or to a shop, never lost and never doubled.
 *
 * Where the database has transactions it is one batch: transfer-at-once.ts. The rest of this file is for one that has none,
 * and for anything that has to be done in several calls. The calls of such a transfer are not one transaction: the game server or the sidecar may die between any two of them, and
 * an answer may be lost. What makes it exact (docs/scripting.md, "Money", draws it):
 *
 * - A ledger row in `bank_transactions` says how far a transfer has come: `new` → `debited` → `done`.
 * - One update of one row is atomic. The update that takes money also sets the row's mark, `last_out`, to the
 *   transfer's id; the update that gives money sets `last_in`. So the row itself tells whether it happened.
 * - Such an update matches only if the mark is still the one that was read before. It cannot happen twice: the mark
 *   has changed, and an id never comes back.
 * - A mark is overwritten only after the ledger has moved on, so what it told is never lost. A transfer that needs the place
 *   moves the ledger on itself and waits for no other.
 *
 * So any step may be repeated, at any time, by anybody, and the way to resume a transfer is to go on with it.
 */
import { type Change, Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import {
  advance,
  type Order,
  type Outcome,
  openTransaction,
  readTransaction,
  sendBack,
  unfinishedTransactions,
} from './ledger.ts';
import { toCents, toDecimal } from './money.ts';
import { type Character, NAMESPACE, type Transaction } from './schema.ts';
import { transferAtOnce } from './transfer-at-once.ts';
import { handOver } from './vehicles.ts';

/** `refused`: the sender has not got that much. Nothing was moved then. */
export async function transfer(game: Game, order: Order): Promise<Outcome> {
  if (order.amount <= 0n || order.from === order.to) throw new Error('a transfer needs an amount and two parties');
  return game.gate.move(async () =>
    game.hasTransactions ? transferAtOnce(game, order) : finish(game, await openTransaction(game, order)),
  );
}

/**
 * Finishes what a stop or a crash left behind. Returns how many there were.
 *
 * Also worth a call now and then: the first call of a server that died may still have been on its way when the next one
 * started. Those that are under way elsewhere come to no harm.
 */
export async function resumeTransfers(game: Game): Promise<number> {
  const unfinished = await unfinishedTransactions(game);
  for (const entry of unfinished) {
    await game.gate
      .move(() => finish(game, entry))
      .catch((error: Error) => {
        if (game.signal.aborted) throw error;
        game.log(`transfer ${entry.id} cannot be finished: ${error.message}`);
      });
  }
  return unfinished.length;
}

/**
 * Goes on with a transfer, wherever it stands, until it is over.
 *
 * First the characters are read, then the ledger. The other way round, a second server that works on the same transfer
 * could finish it in between, and we would take the character's new mark for one of before the debit.
 */
async function finish(game: Game, { id, from_id, to_id }: Transaction): Promise<Outcome> {
  for (;;) {
    const characters = await readCharacters(game, [from_id, to_id ?? from_id]);
    const entry = await readTransaction(game, id);
    switch (entry.state) {
      case 'new':
        await take(game, entry, characters.get(entry.from_id));
        break;
      case 'debited':
        if (entry.to_id === null) await deliver(game, entry);
        else await give(game, entry, characters.get(entry.to_id));
        break;
      case 'done':
      case 'refused':
        return entry.state;
      default:
        throw new Error(`transfer ${id} is ${entry.state satisfies never}`);
    }
  }
}

/** `new` → `debited`, or `refused`. Leaves it `new` if somebody else was quicker; then everything is read again. */
async function take(game: Game, entry: Transaction, sender: Character | undefined): Promise<void> {
  if (!sender) return advance(game, entry.id, 'new', 'refused');
  if (sender.last_out === entry.id) return advance(game, entry.id, 'new', 'debited');
  if (sender.last_out) await advance(game, sender.last_out, 'new', 'debited');

  const minus = Q.Number(toDecimal(-toCents(entry.amount)));
  const isPurchase = entry.to_id === null;
  const debit = {
    filter: Q.And(Q.Eq('id', sender.id), Q.Eq('last_out', sender.last_out), Q.Gte('money', entry.amount)),
    set: { last_out: entry.id },
    inc: isPurchase ? { money: minus, spent: Q.Number(toDecimal(toCents(entry.amount))) } : { money: minus },
  };
  if (await swapMark(game, debit, `${entry.id}:take:${sender.last_out}`)) {
    return advance(game, entry.id, 'new', 'debited');
  }
  // Nothing matched: either the mark has changed, or the money does not suffice. The row knows.
  const now = (await readCharacters(game, [sender.id])).get(sender.id);
  if (now?.last_out === sender.last_out) await advance(game, entry.id, 'new', 'refused');
}

/** `debited` → `done` for a transfer to a character. Leaves it `debited` if somebody else was quicker. */
async function give(game: Game, entry: Transaction, receiver: Character | undefined): Promise<void> {
  if (!receiver) return sendBack(game, entry);
  if (receiver.last_in === entry.id) return advance(game, entry.id, 'debited', 'done');
  if (receiver.last_in) await advance(game, receiver.last_in, 'debited', 'done');

  const credit = {
    filter: Q.And(Q.Eq('id', receiver.id), Q.Eq('last_in', receiver.last_in)),
    set: { last_in: entry.id },
    inc: { money: Q.Number(toDecimal(toCents(entry.amount))) },
  };
  if (await swapMark(game, credit, `${entry.id}:give:${receiver.id}:${receiver.last_in}`)) {
    await advance(game, entry.id, 'debited', 'done');
  }
}

/** `debited` → `done` for something bought. */
async function deliver(game: Game, entry: Transaction): Promise<void> {
  await handOver(game, entry);
  await advance(game, entry.id, 'debited', 'done');
}

/**
 * The one update that moves money. True if it matched.
 *
 * The key holds the mark that is expected, so every expectation is a write of its own, and asking again for the same
 * one within ten minutes brings the first answer. After that the mark alone protects.
 */
async function swapMark(game: Game, change: Change, idempotencyKey: string): Promise<boolean> {
  const result = await game.ask(() => game.db.async.Update(NAMESPACE, 'characters', change, { idempotencyKey }));
  return game.db.Number(must(game, result, 'moving money')) === 1;
}

async function readCharacters(game: Game, ids: readonly number[]): Promise<Map<number, Character>> {
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'characters', {
      filter: Q.In('id', ids),
      fields: ['id', 'money', 'last_out', 'last_in'],
    }),
  );
  const rows = game.db.Rows<Character>(must(game, result, 'reading characters'));
  return new Map(rows.map((row) => [row.id, row]));
}
