import {
  type DeadLetter,
  type ListedQueue,
  type Orphan,
  type QueueBatch,
  type QueueCalls,
  type QueuedEntry,
  QueueLostError,
  QueueMovedError,
  type QueueOwner,
  type QueueRow,
} from '#engine/queues.ts';
import { type CallBounds, StaleSchemaError } from '#engine/rows.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { parseSchema } from '#protocol/schema.ts';
import type { QueueEngine } from '#sidecar/write-behind/queue-world.ts';
import type { Dice } from '#support/buffered/dice.ts';
import type { SimulatedTime } from './simulated-time.ts';

export type Weather = 'fine' | 'rough' | 'away' | 'hanging';

/** A write that the database has carried out. */
export interface AppliedWrite {
  readonly namespace: string;
  /** Number of the write, which no other write bears. */
  readonly n: number;
  readonly isRetry: boolean;
}

export interface DatabaseOptions {
  /** Without them a batch may be carried out in part. */
  readonly hasTransactions: boolean;
  /** A fault: what was applied is applied again. */
  readonly forgetsPosition: boolean;
}

/** The connection of one process: what is under way when it is cut may be carried out, and nobody hears of it. */
export interface Connection {
  readonly engine: QueueEngine & { readonly transfer: { readMark(): Promise<null> } };
  cut(): void;
}

interface Line {
  isCut: boolean;
}

type Fate = 'done' | 'refused' | 'answerLost' | 'late' | 'never';

/** A database that fails in every way that databases have, and says afterwards what it has done. */
export class SimulatedDatabase {
  weather: Weather = 'fine';
  readonly applied: AppliedWrite[] = [];
  readonly letters = new Map<string, DeadLetter>();
  /** Numbers of writes that the constraints refuse. */
  readonly refused = new Set<number>();
  readonly faults: string[] = [];
  readonly #options: DatabaseOptions;
  readonly #time: SimulatedTime;
  readonly #dice: Dice;
  /** By namespace and journal. */
  readonly #rows = new Map<string, QueueRow>();
  readonly #writtenAt = new Map<string, number>();
  #revision = 1;
  /** The column `extra` is declared. */
  #hasExtra = true;
  #isDropped = false;

  constructor(time: SimulatedTime, dice: Dice, options: DatabaseOptions) {
    this.#time = time;
    this.#dice = dice;
    this.#options = options;
  }

  /** A sync: columns come and go. */
  changeSchema(hasExtra: boolean): void {
    this.#revision += 1;
    this.#hasExtra = hasExtra;
  }

  /** By hand, below the sidecar: the schema says that the table is there, and it is not. */
  dropTable(isDropped: boolean): void {
    this.#isDropped = isDropped;
  }

  /** As a restore of the namespace does: nothing that was accepted before is applied any more. */
  fence(namespace: string): void {
    for (const [key, row] of this.#rows) {
      if (row.namespace !== namespace) continue;
      const past = [...row.past, { token: row.token, position: row.position }];
      this.#rows.set(key, { ...row, token: row.token + 1, position: 0, past });
    }
  }

  /** The journal's place is made, as for another database that adopts its writes. */
  adopt(namespace: string, journal: string): void {
    this.#claim(namespace, journal);
  }

  /** Copies the writes and the positions of the queues; the result restores them. */
  backup(): () => void {
    const rows = new Map(this.#rows);
    const applied = [...this.applied];
    return () => {
      this.#rows.clear();
      for (const [key, row] of rows) this.#rows.set(key, row);
      this.applied.splice(0, this.applied.length, ...applied);
    };
  }

  wantRetry(id: string): void {
    const letter = this.letters.get(id);
    if (letter !== undefined) this.letters.set(id, { ...letter, isRetryWanted: true });
  }

  connect(): Connection {
    const line: Line = { isCut: false };
    const call = <T>(bounds: CallBounds, run: () => T): Promise<T> => this.#call(line, bounds, run);
    const queues: QueueCalls = {
      readQueue: (namespace, journal, bounds) => call(bounds, () => this.#rows.get(`${namespace}/${journal}`) ?? null),
      listQueues: (namespace, bounds) => call(bounds, () => this.#listed(namespace)),
      claimQueue: (namespace, journal, bounds) => call(bounds, () => this.#claim(namespace, journal)),
      applyQueue: (batch, bounds) => call(bounds, () => this.#apply(batch)),
      listLetters: (_, bounds) => call(bounds, () => [...this.letters.values()]),
      countLetters: (bounds) => call(bounds, () => this.letters.size),
      lettersToRetry: (namespace, limit, bounds) => call(bounds, () => this.#wanted(namespace).slice(0, limit)),
      wantRetry: () => Promise.reject(new Error('only the command line asks for retries')),
      discardLetter: () => Promise.reject(new Error('only the command line discards')),
      addLetters: () => Promise.reject(new Error('only a copy adds letters')),
      buryOrphans: (owner, orphans, bounds) => call(bounds, () => this.#bury(owner, orphans)),
    };
    const readSchema = (namespace: string, bounds: CallBounds) => call(bounds, () => this.#stored(namespace));
    const unused = () => Promise.reject(new Error('not called'));
    const schemas = {
      ...{ readSchema, applySchema: unused },
      ...{ listQuarantine: unused, restoreQuarantine: unused, purgeQuarantine: unused },
    };
    const capabilities = {
      transactionalSchema: true,
      transactions: this.#options.hasTransactions,
      filterableJson: true,
      snapshots: false,
      maxDecimalScale: 34,
    };
    return {
      engine: { queues, capabilities, schemas, transfer: { readMark: async () => null } },
      cut: () => {
        line.isCut = true;
      },
    };
  }

  #call<T>(line: Line, { deadline }: CallBounds, run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (line.isCut) return;
      const leftMs = Math.max(0, deadline - this.#time.nowMs);
      const latencyMs = this.#latencyMs();
      let isAnswered = false;
      const answer = (send: () => void): void => {
        if (!isAnswered && !line.isCut) send();
        isAnswered = true;
        forgetDeadline();
      };
      const refuse = (code: 'database_error' | 'database_timeout') => () => reject(new ApiError(code, 'simulated'));
      const carryOut = (): void => {
        if (this.weather === 'away') answer(refuse('database_error'));
        else this.#carryOut(run, (send) => answer(() => send(resolve, reject)));
      };
      const forgetDeadline = this.#time.after(leftMs, () => answer(refuse('database_timeout')));
      const fate = this.#fate();
      if (fate === 'done') this.#time.after(latencyMs, carryOut);
      if (fate === 'late') this.#time.after(leftMs + latencyMs * 10, carryOut);
      if (fate === 'refused') this.#time.after(latencyMs, () => answer(refuse('database_error')));
      if (fate === 'answerLost') {
        this.#time.after(latencyMs, () => {
          if (this.weather !== 'away') this.#carryOut(run, () => {});
          answer(refuse('database_timeout'));
        });
      }
    });
  }

  #carryOut<T>(
    run: () => T,
    answer: (send: (resolve: (value: T) => void, reject: (e: unknown) => void) => void) => void,
  ) {
    try {
      const value = run();
      answer((resolve) => resolve(value));
    } catch (error) {
      answer((_, reject) => reject(error));
    }
  }

  #latencyMs(): number {
    const isSlow = this.weather === 'rough' && this.#dice.chance(10);
    return isSlow ? this.#dice.int(100, 8000) : this.#dice.int(0, 12);
  }

  #fate(): Fate {
    if (this.weather === 'fine') return 'done';
    if (this.weather === 'away') return 'refused';
    if (this.weather === 'hanging') return this.#dice.pick(['late', 'never', 'never']);
    return this.#dice.pick(['done', 'done', 'done', 'done', 'refused', 'answerLost', 'late', 'never']);
  }

  #claim(namespace: string, journal: string): QueueRow {
    const key = `${namespace}/${journal}`;
    const row = this.#rows.get(key) ?? { namespace, journal, token: 1, position: 0, past: [] };
    this.#rows.set(key, row);
    return row;
  }

  #listed(namespace: string | null): ListedQueue[] {
    return [...this.#rows].flatMap(([key, row]) => {
      const writtenAt = this.#writtenAt.get(key);
      const writtenMsAgo = writtenAt === undefined ? null : this.#time.nowMs - writtenAt;
      return namespace === null || row.namespace === namespace ? [{ ...row, writtenMsAgo }] : [];
    });
  }

  #move(row: QueueRow, position: number): void {
    const key = `${row.namespace}/${row.journal}`;
    this.#rows.set(key, { ...row, position });
    this.#writtenAt.set(key, this.#time.nowMs);
  }

  #wanted(namespace: string): DeadLetter[] {
    return [...this.letters.values()].filter((one) => one.namespace === namespace && one.isRetryWanted);
  }

  #bury({ namespace, journal, token }: QueueOwner, orphans: readonly Orphan[]): void {
    const key = `${namespace}/${journal}`;
    const row = this.#rows.get(key);
    const done = row?.past.find((place) => place.token === token)?.position ?? 0;
    for (const { position, letter } of orphans) {
      if (position > done && !this.letters.has(letter.id)) this.letters.set(letter.id, letter);
    }
    const position = Math.max(done, orphans.at(-1)?.position ?? 0);
    if (row === undefined) return;
    this.#rows.set(key, { ...row, past: row.past.map((one) => (one.token === token ? { token, position } : one)) });
  }

  #stored(namespace: string): StoredSchema {
    const extra = this.#hasExtra ? [{ name: 'extra', type: 'int32', nullable: true }] : [];
    const table = { name: 't', columns: [{ name: 'n', type: 'int64' }, ...extra], primaryKey: ['n'] };
    const { schema } = parseSchema({ tables: [table] });
    return { namespace, revision: this.#revision, hash: '', schema, updatedAt: '' };
  }

  #apply(batch: QueueBatch): DeadLetter[] {
    const row = this.#rows.get(`${batch.namespace}/${batch.journal}`);
    if (row?.token !== batch.token) throw new QueueLostError(batch.namespace);
    if (row.position > (batch.knownTo ?? row.position)) throw new QueueMovedError(batch.namespace);
    const applied = this.#options.forgetsPosition ? 0 : row.position;
    const todo = batch.entries.filter((entry) => entry.position > applied);
    this.#checkOrder(batch);
    for (const { work } of todo) {
      if (!('write' in work)) continue;
      if (work.target.revision !== this.#revision || this.#isDropped) throw new StaleSchemaError(batch.namespace);
    }
    const isCut = !this.#options.hasTransactions && this.weather === 'rough' && this.#dice.chance(20);
    const some = isCut ? todo.slice(0, this.#dice.int(0, todo.length)) : todo;
    const letters = some.flatMap((entry) => this.#applyEntry(batch.namespace, entry));
    const last = some.at(-1);
    if (last !== undefined) this.#move(row, last.position);
    if (isCut) throw new ApiError('database_error', 'simulated, in the middle');
    return letters;
  }

  #applyEntry(namespace: string, entry: QueuedEntry): DeadLetter[] {
    const { letterId: id, isRetry, kid, op, payload, time, work } = entry;
    if (isRetry && !this.letters.has(id)) return [];
    const n = numberOf(payload);
    const error = work instanceof ApiError ? work : this.#violation(n);
    if (error !== null) {
      const { code, message } = error;
      const letter = { id, namespace, kid, op, payload, code, message, time, isRetryWanted: false };
      this.letters.set(id, letter);
      return [letter];
    }
    if ('write' in work) this.#checkWork(work.write, n);
    this.applied.push({ namespace, n, isRetry });
    this.letters.delete(id);
    return [];
  }

  #violation(n: number): ApiError | null {
    return this.refused.has(n) ? new ApiError('constraint_violation', 'simulated') : null;
  }

  #checkOrder({ entries }: QueueBatch): void {
    for (const [i, { position }] of entries.entries()) {
      if (i > 0 && position <= (entries[i - 1] as QueuedEntry).position) this.faults.push('a batch is out of order');
    }
    if (entries.length === 0) this.faults.push('a batch is empty');
  }

  #checkWork(write: { readonly op: string; readonly rows?: readonly ReadonlyMap<string, unknown>[] }, n: number): void {
    if (write.op !== 'insert' || String(write.rows?.[0]?.get('n')) !== String(n))
      this.faults.push(`write ${n} is another`);
  }
}

export function numberOf(payload: string): number {
  return JSON.parse(payload).rows[0].n;
}
