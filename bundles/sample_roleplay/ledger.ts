/**
 * The ledger: one row of `bank_transactions` for each transfer, which says how far it has come. transfer.ts explains
 * what it is for.
 */
import { randomUUID } from 'node:crypto';
import { Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import { type Cents, toDecimal } from './money.ts';
import { NAMESPACE, type Transaction } from './schema.ts';

type State = Transaction['state'];

export type Outcome = 'done' | 'refused';

export interface Order {
  readonly from: number;
  /** A character, or the name of what is bought. */
  readonly to: number | string;
  readonly amount: Cents;
}

/** Writes the intention down before anything is done. From here on the transfer will come to an end. */
export async function openTransaction(game: Game, order: Order): Promise<Transaction> {
  const entry = {
    id: randomUUID(),
    state: 'new',
    from_id: order.from,
    to_id: typeof order.to === 'number' ? order.to : null,
    item: typeof order.to === 'string' ? order.to : null,
    amount: toDecimal(order.amount),
  } as const;
  const result = await game.ask(() =>
    game.db.async.Insert(NAMESPACE, 'bank_transactions', entry, { idempotencyKey: `${entry.id}:open` }),
  );
  // After ten minutes without an answer the key is forgotten, and the row itself says that it is there already.
  if (result.Code !== 'constraint_violation') must(game, result, 'opening a transfer');
  return entry;
}

export async function readTransaction(game: Game, id: string): Promise<Transaction> {
  const result = await game.ask(() =>
    game.db.async.Find(NAMESPACE, 'bank_transactions', { filter: Q.Eq('id', id), limit: 1 }),
  );
  const [entry] = game.db.Rows<Transaction>(must(game, result, 'reading the ledger'));
  if (!entry) throw new Error(`transfer ${id} is not in the ledger`);
  return entry;
}

/** Moves the ledger on, if it has not moved on already: the filter makes it safe to repeat. */
export async function advance(game: Game, id: string, from: State, to: State): Promise<void> {
  const change = {
    filter: Q.And(Q.Eq('id', id), Q.Eq('state', from)),
    set: { state: to },
  };
  const result = await game.ask(() => game.db.async.Update(NAMESPACE, 'bank_transactions', change));
  must(game, result, `noting that a transfer is ${to}`);
}

/** The receiver is gone: from now on this is a transfer to the sender. */
export async function sendBack(game: Game, entry: Transaction): Promise<void> {
  const change = {
    filter: Q.And(Q.Eq('id', entry.id), Q.Eq('state', 'debited'), Q.Eq('to_id', entry.to_id)),
    set: { to_id: entry.from_id },
  };
  const result = await game.ask(() => game.db.async.Update(NAMESPACE, 'bank_transactions', change));
  must(game, result, 'sending money back');
}

/** All transfers that have been opened and not come to an end, oldest change first. */
export async function unfinishedTransactions(game: Game): Promise<Transaction[]> {
  const query = {
    filter: Q.In('state', ['new', 'debited']),
    sort: [Q.Sort('changed_at'), Q.Sort('id')],
  };
  const result = await game.ask(() => game.db.async.FindAll(NAMESPACE, 'bank_transactions', query));
  return game.db.Rows<Transaction>(must(game, result, 'looking for unfinished transfers'));
}

/** The ledger of those that are over is kept for a day. */
export async function deleteOldTransactions(game: Game): Promise<void> {
  const filter = Q.And(Q.In('state', ['done', 'refused']), Q.Lt('changed_at', Q.Now(-86_400)));
  must(game, await game.ask(() => game.db.async.Delete(NAMESPACE, 'bank_transactions', filter)), 'tidying the ledger');
}
