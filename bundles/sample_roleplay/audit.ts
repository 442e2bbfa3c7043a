import { type Game, must } from './game.ts';
import { unfinishedTransactions } from './ledger.ts';
import { type Cents, showMoney, toCents } from './money.ts';
import { type Character, NAMESPACE, type Transaction } from './schema.ts';

interface Audit {
  readonly characters: number;
  readonly money: Cents;
  readonly paidIn: Cents;
  readonly spent: Cents;
  /** Taken from the sender, not yet given to the receiver. */
  readonly onTheWay: Cents;
  /** Money that is there and should not be; below zero: money that is missing. */
  readonly surplus: Cents;
}

/**
 * Counts all money while none of it moves. What people have, and what is on its way, is what was paid in less what
 * was spent: to the cent, whatever crashed in between.
 */
export async function audit(game: Game): Promise<Audit> {
  return game.gate.still(async () => {
    const unfinished = await unfinishedTransactions(game);
    const marks = new Set<string>();
    let [characters, money, paidIn, spent] = [0, 0n, 0n, 0n];
    for (const row of await allCharacters(game)) {
      characters += 1;
      money += toCents(row.money);
      paidIn += toCents(row.paid_in);
      spent += toCents(row.spent);
      if (row.last_out) marks.add(`out ${row.last_out}`);
      if (row.last_in) marks.add(`in ${row.last_in}`);
    }
    const onTheWay = unfinished
      .filter((transfer) => isOnTheWay(transfer, marks))
      .reduce((sum, transfer) => sum + toCents(transfer.amount), 0n);
    return { characters, money, paidIn, spent, onTheWay, surplus: money + onTheWay - (paidIn - spent) };
  });
}

/** Longer than a page: `FindAll` goes on after the last key of each. */
async function allCharacters(game: Game): Promise<Character[]> {
  const fields = ['id', 'money', 'paid_in', 'spent', 'last_out', 'last_in'];
  const query = { fields, max: 1_000_000 };
  const result = await game.ask(() => game.db.async.FindAll(NAMESPACE, 'characters', query));
  return game.db.Rows<Character>(must(game, result, 'counting money'));
}

/** A purchase counts as spent at once; a transfer between characters has marks. */
function isOnTheWay(transfer: Transaction, marks: ReadonlySet<string>): boolean {
  if (transfer.to_id === null) return false;
  const isTaken = transfer.state === 'debited' || marks.has(`out ${transfer.id}`);
  return isTaken && !marks.has(`in ${transfer.id}`);
}

/** Line for the console; a loud one if the sum is wrong. */
export function describeAudit({ characters, money, paidIn, spent, onTheWay, surplus }: Audit): string {
  const way = onTheWay === 0n ? '' : `, ${showMoney(onTheWay)} on the way`;
  const sums =
    `${characters.toLocaleString('en')} characters hold ${showMoney(money)}${way}; ` +
    `paid in ${showMoney(paidIn)}, spent ${showMoney(spent)}`;
  if (surplus === 0n) return `audit ok: ${sums}`;
  return `!!! AUDIT MISMATCH of ${showMoney(surplus)} !!! ${sums}`;
}
