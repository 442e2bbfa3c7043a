import { setTimeout as wait } from 'node:timers/promises';
import type { SignedClient } from '#support/signed-client.ts';
import { Calls, type ClientOf, type Ended, type Outcome } from './calls.ts';
import { OwnRows } from './own-rows.ts';

const NAMESPACE = 'game';
const ACCOUNTS = [11, 12, 13, 14];
const SHARED_COUNTER = 10;
const FIRST_OWN_ROW = 1000;
/** Every so many rounds a caller deletes its row. */
const ROUNDS_PER_DELETE = 5;

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

/** Calls of several callers beside faults, and the answers to them. Imports nothing of the sidecar. */
export class Ledger {
  readonly #calls = new Calls();
  /** Acknowledged inserts: id by tag. */
  readonly #inserted = new Map<string, number>();
  /** Refused inserts: error code by tag. */
  readonly #refused = new Map<string, string>();
  readonly #increments = { done: 0, unknown: 0, refused: 0 };
  readonly #ownRows = new OwnRows();
  readonly #stale: string[] = [];
  readonly #mayBeOld: () => boolean;
  #callers = 0;
  #isOver = false;

  /** @param mayBeOld whether a read may find what was there before the last write of its row, for now */
  constructor(mayBeOld = () => false) {
    this.#mayBeOld = mayBeOld;
  }

  /** Calls by outcome. */
  get calls(): Readonly<Record<Outcome, number>> {
    return { ...this.#calls.counts };
  }

  get longestCallMs(): number {
    return this.#calls.longestMs;
  }

  /** Rows that every caller changes. */
  async prepare(client: SignedClient): Promise<void> {
    const rows = [SHARED_COUNTER, ...ACCOUNTS].map((id) => ({ id, n: 0 }));
    await client.must('insert', { namespace: NAMESPACE, table: 'counters', rows });
  }

  /** A caller: call after call until the end. */
  async load(clientOf: ClientOf, name: string): Promise<void> {
    this.#callers += 1;
    const ownRow = FIRST_OWN_ROW + this.#callers;
    const actions = [
      (tag: string) => this.#insert(clientOf, tag, tag),
      (tag: string) => this.#insert(clientOf, tag, null),
      () => this.#increment(clientOf),
      (tag: string, round: number) => this.#transfer(clientOf, tag, round),
      (tag: string, round: number) => this.#insertTwice(clientOf, tag, round),
      (tag: string, round: number) => this.#ownRow(clientOf, tag, ownRow, round),
    ];
    for (let count = 0; !this.#isOver; count += 1) {
      const round = Math.floor(count / actions.length);
      await actions[count % actions.length]?.(`${name}-${count}`, round);
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
    const wanted = this.#calls.counts.done + count;
    while (this.#calls.counts.done < wanted) await wait(10);
  }

  async #insert(clientOf: ClientOf, tag: string, key: string | null): Promise<void> {
    this.#noteInsert(tag, await this.#calls.send(clientOf, 'insert', insertion(tag), key));
  }

  /** By a client that knows nothing of sidecars, and sends one request to two. */
  async #insertTwice(clientOf: ClientOf, tag: string, round: number): Promise<void> {
    this.#noteInsert(tag, await this.#calls.sendTwice(clientOf, '/v1/data/insert', insertion(tag), round % 2 === 0));
  }

  #noteInsert(tag: string, { outcome, code, result }: Ended): void {
    if (outcome === 'done') this.#inserted.set(tag, Number((result as { ids: readonly number[] }).ids[0]));
    if (outcome === 'refused') this.#refused.set(tag, `${code}`);
  }

  async #increment(clientOf: ClientOf): Promise<void> {
    const payload = { namespace: NAMESPACE, table: 'counters', ...plus(SHARED_COUNTER, 1) };
    const { outcome } = await this.#calls.send(clientOf, 'update', payload, null);
    this.#increments[outcome] += 1;
  }

  /** From one account to another, in one atomic batch: the sum stays. */
  async #transfer(clientOf: ClientOf, tag: string, round: number): Promise<void> {
    const from = ACCOUNTS[round % ACCOUNTS.length] as number;
    const to = ACCOUNTS[(round + 1) % ACCOUNTS.length] as number;
    const operations = [plus(from, -5), plus(to, 5)].map((change) => ({ op: 'update', table: 'counters', ...change }));
    await this.#calls.send(clientOf, 'batch', { namespace: NAMESPACE, operations }, tag);
  }

  /** Written or deleted at one sidecar, read at the next one. */
  async #ownRow(clientOf: ClientOf, tag: string, id: number, round: number): Promise<void> {
    const table = { namespace: NAMESPACE, table: 'counters' };
    const filter = { field: 'id', op: 'eq', value: id };
    const isDeleted = round % ROUNDS_PER_DELETE === ROUNDS_PER_DELETE - 1;
    const { outcome } = isDeleted
      ? await this.#calls.send(clientOf, 'delete', { ...table, filter }, tag)
      : await this.#calls.send(clientOf, 'upsert', { ...table, row: { id, n: round }, keys: ['id'] }, tag);
    this.#ownRows.wrote(id, isDeleted ? null : round, outcome);
    const couldBeOld = this.#mayBeOld();
    const read = await this.#calls.send((attempt) => clientOf(attempt + 1), 'find', { ...table, filter }, null);
    if (read.outcome !== 'done' || couldBeOld || this.#mayBeOld()) return;
    const { rows } = read.result as { rows: readonly { n: number }[] };
    const found = rows[0]?.n ?? null;
    if (!this.#ownRows.isRight(id, found)) this.#stale.push(`${tag}: ${found} after ${isDeleted ? null : round}`);
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
      refusedButDone: [...this.#refused].filter(([tag]) => stored(tag).length > 0),
      wrongCount: counted < done || counted > done + unknown ? [counted, done, unknown] : [],
      wrongRows: this.#ownRows.ids.filter((id) => !this.#ownRows.isRight(id, values.get(id) ?? null)),
      stale: [...this.#stale],
      sum: ACCOUNTS.reduce((sum, id) => sum + (values.get(id) ?? 0), 0),
    };
  }
}

export const NOTHING_WRONG = {
  ...{ lost: [], doubled: [], otherId: [], refusedButDone: [], wrongCount: [], wrongRows: [], stale: [] },
  sum: 0,
};

function insertion(tag: string) {
  return { namespace: NAMESPACE, table: 'entries', rows: [{ tag }] };
}

function plus(id: number, n: number) {
  return { filter: { field: 'id', op: 'eq', value: id }, inc: { n } };
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
