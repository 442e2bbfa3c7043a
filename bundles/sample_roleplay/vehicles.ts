import { type Game, must } from './game.ts';
import { type Cents, toCents } from './money.ts';
import { NAMESPACE, type Transaction } from './schema.ts';

/** Vehicles of the dealer, with prices. */
export const PRICES: ReadonlyMap<string, Cents> = new Map([
  ['faggio', toCents('1450.00')],
  ['blista', toCents('8900.00')],
  ['sultan', toCents('21999.99')],
  ['bison', toCents('17250.50')],
]);

export function plateOf(id: string): string {
  return id.slice(0, 8).toUpperCase();
}

/**
 * Gives the buyer what the transaction paid for. The vehicle has the transaction's id for its key, so a second time
 * is refused by the database, and that is as good as a success.
 */
export async function handOver(game: Game, paid: Transaction): Promise<void> {
  const vehicle = {
    id: paid.id,
    owner_id: paid.from_id,
    model: paid.item,
    plate: plateOf(paid.id),
  };
  const result = await game.ask(() =>
    game.db.async.Insert(NAMESPACE, 'vehicles', vehicle, { idempotencyKey: `${paid.id}:deliver` }),
  );
  if (result.Code !== 'constraint_violation') must(game, result, 'handing over a vehicle');
}
