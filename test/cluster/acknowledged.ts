import { setTimeout as wait } from 'node:timers/promises';
import type { TestSidecar } from '#support/sidecar.ts';

const NAMESPACE = 'game';

export const TABLES = [
  {
    name: 'entries',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'int64', autoIncrement: true },
      { name: 'tag', type: 'string', length: 64 },
    ],
  },
  {
    name: 'counters',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'int32' },
      { name: 'n', type: 'int64' },
    ],
  },
];

/** Writes of several callers beside a fault, and the answers to them. Imports nothing of the sidecar. */
export class Ledger {
  /** Tags by the last answer to their insert. */
  readonly #acknowledged = new Map<string, number>();
  readonly #unknown = new Set<string>();
  readonly #refused = new Set<string>();
  #longestPauseMs = 0;
  #isOver = false;

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  get longestPauseMs(): number {
    return this.#longestPauseMs;
  }

  /** A caller: call after call until the end, each an insert with its own tag, every second one with a key. */
  async load(sidecar: TestSidecar, name: string): Promise<void> {
    let lastGoodMs = performance.now();
    for (let round = 0; !this.#isOver; round += 1) {
      const tag = `${name}-${round}`;
      const key = round % 2 === 0 ? {} : { idempotencyKey: tag };
      const payload = { namespace: NAMESPACE, table: 'entries', rows: [{ tag }], ...key };
      const { status, result } = await sidecar.client.call('insert', payload);
      if (status === 200) {
        this.#acknowledged.set(tag, Number((result as { ids: readonly number[] }).ids[0]));
        this.#longestPauseMs = Math.max(this.#longestPauseMs, performance.now() - lastGoodMs);
        lastGoodMs = performance.now();
      } else if (status === 504) this.#unknown.add(tag);
      else this.#refused.add(tag);
      await wait(2);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  /** Resolves when so many more inserts were acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged + count;
    while (this.acknowledged < wanted) await wait(10);
  }

  /** Compares the database with the answers; empty lists are right. */
  async judge(sidecar: TestSidecar) {
    const page = { namespace: NAMESPACE, table: 'entries', sort: [{ field: 'id', dir: 'asc' }], limit: 1000 };
    const idsOf = new Map<string, number[]>();
    for (let offset = 0; ; offset += 1000) {
      const { rows } = (await sidecar.client.must('find', { ...page, offset })) as {
        rows: readonly { id: number; tag: string }[];
      };
      for (const { id, tag } of rows) idsOf.set(tag, [...(idsOf.get(tag) ?? []), id]);
      if (rows.length < 1000) break;
    }
    const stored = (tag: string): number[] => idsOf.get(tag) ?? [];
    return {
      lost: [...this.#acknowledged.keys()].filter((tag) => stored(tag).length === 0),
      doubled: [...idsOf].filter(([, ids]) => ids.length > 1).map(([tag]) => tag),
      otherId: [...this.#acknowledged].filter(([tag, id]) => !stored(tag).includes(id)).map(([tag]) => tag),
      refusedButDone: [...this.#refused].filter((tag) => stored(tag).length > 0),
    };
  }
}

export const NOTHING_WRONG = { lost: [], doubled: [], otherId: [], refusedButDone: [] };
