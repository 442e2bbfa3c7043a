import { ApiError } from '#protocol/errors.ts';
import { orLate } from '#sidecar/deadline.ts';
import { type Batch, isDeferred } from '../batch.ts';
import type { CallBounds } from '../rows.ts';

/**
 * Batches that change rows of the same tables, one after another, in the order in which they came. Transactions that take
 * rows in different orders end in deadlocks, which PostgreSQL finds only after a second each: thirty transfers to and fro
 * between two accounts would fill every connection and run out of time. Other processes are not held back, nor are
 * single writes: the server's own detection is for those.
 */
export class BatchTurns {
  /** By table: the end of the last batch that came. Never rejects. */
  readonly #ends = new Map<string, Promise<unknown>>();

  /** @throws ApiError `database_timeout` where the batches before it need all the time */
  async run<T>(batch: Batch, { deadline }: CallBounds, work: () => Promise<T>): Promise<T> {
    const tables = tablesOf(batch);
    const before = Promise.all(tables.map((table) => this.#ends.get(table)));
    const own = Promise.withResolvers<void>();
    // Whoever gives up does not let the next one past those who are still at it.
    const end = before.then(() => own.promise);
    for (const table of tables) this.#ends.set(table, end);
    void end.then(() => {
      for (const table of tables) if (this.#ends.get(table) === end) this.#ends.delete(table);
    });
    try {
      if (tables.length > 0) await endedBy(before, deadline);
      return await work();
    } finally {
      own.resolve();
    }
  }
}

/** Those of which it changes rows that are there; none where a single operation cannot be in another one's way twice. */
function tablesOf({ namespace, operations }: Batch): string[] {
  if (operations.length < 2) return [];
  const tables = operations.flatMap((operation) => {
    if (operation instanceof ApiError || (!isDeferred(operation.write) && operation.write.op === 'insert')) return [];
    return [`${namespace} ${operation.target.table.name}`];
  });
  return [...new Set(tables)];
}

async function endedBy(before: Promise<unknown>, deadline: number): Promise<void> {
  const outcome = await orLate(before, deadline - performance.now(), 'late');
  if (outcome !== 'late') return;
  throw new ApiError(
    'database_timeout',
    'earlier batches were at the same tables until the time was over; nothing was done',
  );
}
