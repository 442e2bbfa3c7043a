import { setTimeout as wait } from 'node:timers/promises';
import type { SignedClient } from '#support/signed-client.ts';

const NAMESPACE = 'game';
const ACCOUNTS = [11, 12, 13, 14];
const SHARED_COUNTER = 10;
/** How often a call with a key is sent again while its outcome is unknown, as a connector does. */
const MAX_REPETITIONS = 8;

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

/** `done`: acknowledged. `unknown`: a timeout, or a sidecar that is gone. `refused`: nothing was changed. */
type Outcome = 'done' | 'unknown' | 'refused';

/** Chooses the sidecar of a call; each may be another one after a restart. */
export type ClientOf = (attempt: number) => SignedClient;

/** Writes of several callers beside faults, and the answers to them. Imports nothing of the sidecar. */
export class Ledger {
  /** Acknowledged inserts: id by tag. */
  readonly #inserted = new Map<string, number>();
  readonly #refused = new Set<string>();
  readonly #increments = { done: 0, unknown: 0, refused: 0 };
  readonly #calls = { done: 0, unknown: 0, refused: 0 };
  #longestCallMs = 0;
  #isOver = false;

  /** Calls by outcome. */
  get calls(): Readonly<Record<Outcome, number>> {
    return { ...this.#calls };
  }

  get longestCallMs(): number {
    return this.#longestCallMs;
  }

  /** Rows that every caller changes. */
  async prepare(client: SignedClient): Promise<void> {
    const rows = [SHARED_COUNTER, ...ACCOUNTS].map((id) => ({ id, n: 0 }));
    await client.must('insert', { namespace: NAMESPACE, table: 'counters', rows });
  }

  /** A caller: call after call until the end. Inserts with and without a key, increments of one row, transfers. */
  async load(clientOf: ClientOf, name: string): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) {
      const tag = `${name}-${round}`;
      if (round % 4 === 0) await this.#insert(clientOf, tag, true);
      else if (round % 4 === 1) await this.#insert(clientOf, tag, false);
      else if (round % 4 === 2) await this.#increment(clientOf);
      else await this.#transfer(clientOf, tag, round);
      await wait(2);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  /** Callers may load again after an end. */
  begin(): void {
    this.#isOver = false;
  }

  /** Resolves when so many more calls were acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.#calls.done + count;
    while (this.#calls.done < wanted) await wait(10);
  }

  async #insert(clientOf: ClientOf, tag: string, isKeyed: boolean): Promise<void> {
    const payload = { namespace: NAMESPACE, table: 'entries', rows: [{ tag }] };
    const { outcome, result } = await this.#call(clientOf, 'insert', payload, isKeyed ? tag : null);
    if (outcome === 'done') this.#inserted.set(tag, Number((result as { ids: readonly number[] }).ids[0]));
    if (outcome === 'refused') this.#refused.add(tag);
  }

  async #increment(clientOf: ClientOf): Promise<void> {
    const payload = { namespace: NAMESPACE, table: 'counters', ...plus(SHARED_COUNTER, 1) };
    const { outcome } = await this.#call(clientOf, 'update', payload, null);
    this.#increments[outcome] += 1;
  }

  /** From one account to another, in one atomic batch: the sum stays. */
  async #transfer(clientOf: ClientOf, tag: string, round: number): Promise<void> {
    const from = ACCOUNTS[(round >> 2) % ACCOUNTS.length] as number;
    const to = ACCOUNTS[((round >> 2) + 1) % ACCOUNTS.length] as number;
    const operations = [plus(from, -5), plus(to, 5)].map((change) => ({ op: 'update', table: 'counters', ...change }));
    await this.#call(clientOf, 'batch', { namespace: NAMESPACE, operations }, tag);
  }

  async #call(clientOf: ClientOf, operation: string, payload: object, key: string | null) {
    const whole = key === null ? payload : { ...payload, idempotencyKey: key };
    for (let attempt = 0; ; attempt += 1) {
      const startedMs = performance.now();
      const answer = await clientOf(attempt)
        .call(operation, whole)
        .catch(() => null);
      this.#longestCallMs = Math.max(this.#longestCallMs, performance.now() - startedMs);
      const outcome = outcomeOf(answer?.status ?? null);
      if (outcome === 'unknown' && key !== null && attempt < MAX_REPETITIONS) {
        await wait(200);
        continue;
      }
      this.#calls[outcome] += 1;
      return { outcome, result: answer?.result };
    }
  }

  /** Compares the database with the answers, as one sidecar reads it; empty lists are right. */
  async judge(client: SignedClient) {
    const idsOf = await storedIds(client);
    const stored = (tag: string): number[] => idsOf.get(tag) ?? [];
    const { rows } = await client.must('find', { namespace: NAMESPACE, table: 'counters' });
    const values = new Map((rows as { id: number; n: number }[]).map(({ id, n }) => [id, n]));
    const counted = values.get(SHARED_COUNTER) ?? 0;
    const { done, unknown } = this.#increments;
    return {
      lost: [...this.#inserted.keys()].filter((tag) => stored(tag).length === 0),
      doubled: [...idsOf].filter(([, ids]) => ids.length > 1).map(([tag]) => tag),
      otherId: [...this.#inserted].filter(([tag, id]) => !stored(tag).includes(id)).map(([tag]) => tag),
      refusedButDone: [...this.#refused].filter((tag) => stored(tag).length > 0),
      wrongCount: counted < done || counted > done + unknown ? [counted, done, unknown] : [],
      sum: ACCOUNTS.reduce((sum, id) => sum + (values.get(id) ?? 0), 0),
    };
  }
}

export const NOTHING_WRONG = { lost: [], doubled: [], otherId: [], refusedButDone: [], wrongCount: [], sum: 0 };

function plus(id: number, n: number) {
  return { filter: { field: 'id', op: 'eq', value: id }, inc: { n } };
}

/** 504 and a vanished sidecar leave it open. */
function outcomeOf(status: number | null): Outcome {
  if (status === 200) return 'done';
  return status === null || status === 504 ? 'unknown' : 'refused';
}

async function storedIds(client: SignedClient): Promise<Map<string, number[]>> {
  const idsOf = new Map<string, number[]>();
  const page = { namespace: NAMESPACE, table: 'entries', sort: [{ field: 'id', dir: 'asc' }], limit: 1000 };
  for (let last = 0; ; ) {
    const filter = { field: 'id', op: 'gt', value: last };
    const { rows } = await client.must<{ rows: readonly { id: number; tag: string }[] }>('find', { ...page, filter });
    for (const { id, tag } of rows) idsOf.set(tag, [...(idsOf.get(tag) ?? []), id]);
    last = rows.at(-1)?.id ?? last;
    if (rows.length < 1000) return idsOf;
  }
}
