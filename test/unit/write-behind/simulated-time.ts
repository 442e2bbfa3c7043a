import type { Clock } from '#sidecar/write-behind/journal/clock.ts';

interface Event {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | null;
}

const EPOCH_MS = 1_790_000_000_000;

/** Time that passes only when it is told to: between two events everything settles that needs no time. */
export class SimulatedTime {
  #nowMs = 0;
  #order = 0;
  readonly #events: Event[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  get epochMs(): number {
    return EPOCH_MS + this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    this.#order += 1;
    const event: Event = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order, run };
    let place = this.#events.length;
    while (place > 0 && isLater(this.#events[place - 1] as Event, event)) place -= 1;
    this.#events.splice(place, 0, event);
    return () => {
      event.run = null;
    };
  }

  async pass(ms: number): Promise<void> {
    const until = this.#nowMs + ms;
    await settled();
    for (let event = this.#events[0]; event !== undefined && event.atMs <= until; event = this.#events[0]) {
      this.#events.shift();
      if (event.run === null) continue;
      this.#nowMs = event.atMs;
      event.run();
      await settled();
    }
    this.#nowMs = until;
  }

  /** Clock of a process, which hears nothing more once it is dead. */
  clockOf(isDead: () => boolean): Clock {
    return {
      now: () => this.epochMs,
      monotonicNow: () => this.#nowMs,
      setTimeout: (run, ms) =>
        this.after(ms, () => {
          if (!isDead()) run();
        }),
    };
  }
}

function isLater(left: Event, right: Event): boolean {
  return left.atMs > right.atMs || (left.atMs === right.atMs && left.order > right.order);
}

/** All that waits for nothing but its turn has had it. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
