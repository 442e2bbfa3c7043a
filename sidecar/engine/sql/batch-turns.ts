import { ApiError } from '#protocol/errors.ts';
import { orLate } from '#sidecar/deadline.ts';
import { type Batch, isDeferred } from '../batch.ts';
import type { CallBounds } from '../rows.ts';

/**
 * Runs batches that change rows of the same tables one after another, in the order of their arrival. Transactions that
 * lock rows in different orders deadlock, which PostgreSQL detects only after a second each: thirty transfers to and fro
 * between two accounts would fill every connection and run out of time. Other processes and single writes do not wait
 * here: the server's deadlock detection is for them.
 */
export class BatchTurns {
  /** By table: the end of the last batch that arrived. Never rejects. */
  readonly #ends = new Map<string, Promise<unknown>>();

  /** @throws ApiError `database_timeout` if the batches before it need all the time */
  async run<T>(batch: Batch, { deadline }: CallBounds, work: () => Promise<T>): Promise<T> {
    const tables = tablesOf(batch);
    const before = Promise.all(tables.map((table) => this.#ends.get(table)));
    const own = Promise.withResolvers<void>();
    // A batch that gives up must not let the next one pass the batches that still run.
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

/** Tables in which the batch changes existing rows; none for a single operation, which cannot deadlock with another one. */
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
