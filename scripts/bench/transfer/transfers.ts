/** Workload of the public comparison: money moves between two of 100,000 accounts, if the first has enough. */
export const ACCOUNTS = 100_000;
export const BALANCE = 10_000_000;
/** Exponent of the distribution in which few accounts have most of the transfers. */
const ZIPF = 1.5;

export type TransferSpread = 'uniform' | 'zipf';

export interface Transfer {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** Draws transfers between two different accounts, numbered from 0. */
export function nextTransfer(spread: TransferSpread): () => Transfer {
  const pick = spread === 'uniform' ? () => Math.floor(Math.random() * ACCOUNTS) : zipf(ACCOUNTS, ZIPF);
  return () => {
    const from = pick();
    let to = pick();
    while (to === from) to = pick();
    return { from, to, amount: 1 + Math.floor(Math.random() * 10) };
  };
}

/** Draws 0 to `count - 1` with a probability of 1 / (rank + 1) ** `exponent`. */
function zipf(count: number, exponent: number): () => number {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank += 1) {
    sum += (rank + 1) ** -exponent;
    sums[rank] = sum;
  }
  return () => {
    const drawn = Math.random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) < drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** The same transfer as a guarded `batch`: all of it, or nothing if the first account has too little. */
export function transferBatch({ from, to, amount }: Transfer): object {
  const account = { op: 'update', table: 'accounts', expect: { affected: 1 } };
  const byId = (id: number) => ({ field: 'id', op: 'eq', value: id });
  const hasEnough = { field: 'balance', op: 'gte', value: amount };
  return {
    namespace: 'bank',
    operations: [
      { ...account, filter: { and: [byId(from), hasEnough] }, inc: { balance: -amount } },
      { ...account, filter: byId(to), inc: { balance: amount } },
    ],
  };
}
