import PQueue from 'p-queue';
import { CONNECTOR_MAX_WAITING } from '../protocol/limits.ts';

/** A call that was accepted. It either runs or is dropped. */
export interface QueuedCall {
  /** Never rejects. */
  run(): Promise<void>;
  drop(): void;
}

/** Accepted calls: `concurrency` in flight, at most 512 that wait. A call keeps its place between its attempts. */
export class CallQueue {
  readonly #queue: PQueue;
  readonly #waiting = new Set<QueuedCall>();

  constructor() {
    this.#queue = new PQueue({ concurrency: 1 });
  }

  setConcurrency(concurrency: number): void {
    this.#queue.concurrency = concurrency;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get inFlight(): number {
    return this.#queue.pending;
  }

  get isFull(): boolean {
    return this.#waiting.size >= CONNECTOR_MAX_WAITING;
  }

  /** Nothing begins until `resume`. */
  pause(): void {
    this.#queue.pause();
  }

  resume(): void {
    this.#queue.start();
  }

  add(call: QueuedCall): void {
    this.#waiting.add(call);
    const run = () => {
      this.#waiting.delete(call);
      return call.run();
    };
    // Rejects only for a call that was dropped while it waited.
    this.#queue.add(run).catch(() => undefined);
  }

  /** Drops every call that has not begun. */
  dropWaiting(): void {
    const dropped = [...this.#waiting];
    this.#waiting.clear();
    this.#queue.clear();
    for (const call of dropped) {
      call.drop();
    }
  }
}
