import type { SignedClient } from '../signed-client.ts';
import { readState } from './buffered-sidecar.ts';
import { Dice } from './dice.ts';
import { type Call, nameOf, Oracle } from './oracle.ts';
import { Writer } from './writer.ts';

/** Acknowledged keys that are repeated each time, beside each writer's last. */
const OLD_KEYS = 6;

export interface LoadOptions {
  readonly writers: number;
  readonly seed: number;
  /** Between two calls of a writer; none by default. */
  readonly pauseMs?: number;
  /** Codes that answers may bear; none where all is well. */
  readonly expectedCodes?: readonly string[];
}

/** Several writers at once, and the oracle of all that they do, over the life of many processes. */
export class Load {
  readonly oracle: Oracle;
  acknowledged = 0;
  /** Queued calls among them. */
  queued = 0;
  /** Answers that left open whether the write is done. */
  unknown = 0;
  /** The most that an acknowledgement told. */
  mostPending = 0;
  readonly #refused = new Map<string, number>();
  readonly #writers: readonly Writer[];
  readonly #dice: Dice;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor({ writers, seed, pauseMs = 0, expectedCodes = [] }: LoadOptions) {
    this.oracle = new Oracle(writers);
    this.#dice = new Dice(seed);
    this.#writers = Array.from(
      { length: writers },
      (_, writer) =>
        new Writer({
          writer,
          oracle: this.oracle,
          dice: new Dice(seed + 1 + writer),
          pauseMs,
          expectedCodes: new Set(expectedCodes),
          onAcknowledged: (pending) => this.#count(pending),
          onRefused: (code, isUnknown) => this.#countRefusal(code, isUnknown),
        }),
    );
  }

  /** How many answers bore the code. */
  refused(code: string): number {
    return this.#refused.get(code) ?? 0;
  }

  /** Until `isOver`, or the sidecar is gone. */
  async run(client: SignedClient, isOver: () => boolean): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.run(client, isOver)));
  }

  /** Resolves at the so manieth acknowledgement from now. */
  acknowledgements(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count: this.acknowledged + count, resolve });
    return promise;
  }

  /** Keys that were acknowledged are answered as they were the first time, and another payload is refused. */
  async repeatKeys(client: SignedClient): Promise<void> {
    const last = this.#writers.flatMap((writer) => writer.keyed.at(-1) ?? []);
    const all = this.#writers.flatMap((writer) => writer.keyed);
    const old = Array.from({ length: Math.min(OLD_KEYS, all.length) }, () => this.#dice.pick(all));
    for (const call of new Set([...last, ...old])) await this.#repeat(client, call);
    const [any] = last;
    if (any === undefined) return;
    const other = JSON.stringify({ ...(JSON.parse(any.payload) as object), table: 'elsewhere' });
    const { status } = await client.call(any.operation, other);
    if (status !== 422) this.oracle.problems.push(`${nameOf(any)}: another payload of its key was answered ${status}`);
  }

  async #repeat(client: SignedClient, call: Call): Promise<void> {
    const { text } = await client.call(call.operation, call.payload);
    if (text === call.answer) return;
    this.oracle.problems.push(`${nameOf(call)}: its key was first answered ${call.answer}, then ${text}`);
  }

  /** Compares the database with what was told. The first few problems are enough. */
  async judge(client: SignedClient): Promise<string[]> {
    const open = this.#writers.flatMap((writer) => writer.open);
    const problems = [...this.oracle.problems, ...this.oracle.judge(await readState(client), open)];
    return problems.length <= 10 ? problems : [...problems.slice(0, 10), `and ${problems.length - 10} more`];
  }

  /** No call is repeated any more. */
  end(): void {
    for (const writer of this.#writers) writer.giveUp();
  }

  #countRefusal(code: string, isUnknown: boolean): void {
    this.#refused.set(code, this.refused(code) + 1);
    if (isUnknown) this.unknown += 1;
  }

  #count(pending: number): void {
    this.acknowledged += 1;
    if (pending > 0) this.queued += 1;
    this.mostPending = Math.max(this.mostPending, pending);
    for (const { count, resolve } of this.#waiting) if (this.acknowledged >= count) resolve();
  }
}
