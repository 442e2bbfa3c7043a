/**
 * Money from one character to another, or to a shop, as one batch: all of it happens or nothing does. For databases with
 * transactions; transfer.ts goes step by step where there are none.
 *
 * The first write is the ledger's row, whose id is made here: a batch that comes a second time is refused by it, also when
 * the idempotency key has long been forgotten. The guards are the database's own: it counts the rows that matched.
 */
import { randomUUID } from 'node:crypto';
import { type JsonText, Q } from '../db_connector/helper.js';
import { type Game, must } from './game.ts';
import type { Order, Outcome } from './ledger.ts';
import { toDecimal } from './money.ts';
import { NAMESPACE } from './schema.ts';
import { plateOf } from './vehicles.ts';

/** `refused`: the sender has not got that much, or one of the two is gone. Nothing was moved then. */
export async function transferAtOnce(game: Game, order: Order): Promise<Outcome> {
  const id = randomUUID();
  const writes = [Q.Op.Insert('bank_transactions', entryOf(id, order)), ...movesOf(id, order)];
  const idempotencyKey = `${id}:transfer`;
  const result = await game.ask(() => game.db.async.Batch(NAMESPACE, writes, { idempotencyKey }));
  if (result.Code === 'expectation_failed') return 'refused';
  // The ledger has the row already: it was done by an attempt whose answer was lost.
  if (result.Code !== 'constraint_violation') must(game, result, 'moving money');
  return 'done';
}

function entryOf(id: string, { from, to, amount }: Order): object {
  const isPurchase = typeof to === 'string';
  const parties = isPurchase ? { from_id: from, item: to } : { from_id: from, to_id: to };
  return { id, state: 'done', amount: toDecimal(amount), ...parties };
}

/** Each must find its one row, or none of it happens. */
function movesOf(id: string, { from, to, amount }: Order): JsonText[] {
  const [plus, minus] = [Q.Number(toDecimal(amount)), Q.Number(toDecimal(-amount))];
  const hasEnough = Q.And(Q.Eq('id', from), Q.Gte('money', plus));
  if (typeof to === 'string') {
    const vehicle = { id, owner_id: from, model: to, plate: plateOf(id) };
    return [
      Q.Op.Update('characters', { filter: hasEnough, inc: { money: minus, spent: plus } }, { expect: 1 }),
      Q.Op.Insert('vehicles', vehicle),
    ];
  }
  return [
    Q.Op.Update('characters', { filter: hasEnough, inc: { money: minus } }, { expect: 1 }),
    Q.Op.Update('characters', { filter: Q.Eq('id', to), inc: { money: plus } }, { expect: 1 }),
  ];
}
