import type { Engine } from '#engine/engine.ts';
import type { CallWatch } from '#sidecar/data/call-watch.ts';
import { DatabaseCheck } from '#sidecar/data/database-check.ts';
import type { WriteBuffer } from '#sidecar/write-behind/write-buffer.ts';
import type { DatabaseHealth } from '../shapes/database.ts';

export interface HealthWatchOptions {
  readonly engine: Pick<Engine, 'ping'>;
  readonly writeBuffer: Pick<WriteBuffer, 'health'> | null;
  readonly calls: CallWatch;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const PERIOD_MS = 3000;
const WELL: DatabaseHealth = { unreachableSince: null, pendingWrites: 0, queue: 'ok' };

/** Checks every three seconds, and after a failed call, whether the database answers. Listeners get changes. */
export class HealthWatch {
  readonly #options: HealthWatchOptions;
  readonly #check: DatabaseCheck;
  readonly #listeners: ((health: DatabaseHealth) => void)[] = [];
  #health = WELL;
  #lacksStandby = false;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: HealthWatchOptions) {
    this.#options = options;
    this.#check = new DatabaseCheck(options.engine);
    options.calls.onCall(({ code }) => {
      if (code.startsWith('database_') && this.#health.unreachableSince === null) void this.look();
    });
  }

  /** null if all is well. */
  get trouble(): DatabaseHealth | null {
    const { unreachableSince, queue } = this.#health;
    return unreachableSince === null && queue === 'ok' ? null : this.#health;
  }

  /** No write was acknowledged at the last look, as a synchronous standby is away. */
  get lacksStandby(): boolean {
    return this.#lacksStandby;
  }

  onChange(listener: (health: DatabaseHealth) => void): void {
    this.#listeners.push(listener);
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), PERIOD_MS).unref();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async look(): Promise<void> {
    const { isReachable, obstacle } = await this.#check.look();
    if (this.#isClosed) return;
    this.#lacksStandby = obstacle === 'noStandby';
    const before = this.#health;
    this.#health = this.#read(isReachable);
    // While all is well, a changed number of waiting writes is no news.
    const isNews = this.trouble !== null || before.unreachableSince !== null || before.queue !== 'ok';
    if (!isNews || JSON.stringify(before) === JSON.stringify(this.#health)) return;
    for (const listener of this.#listeners) listener(this.#health);
  }

  #read(isReachable: boolean): DatabaseHealth {
    const { writeBuffer, now } = this.#options;
    const buffer = writeBuffer?.health();
    const since = this.#health.unreachableSince ?? new Date(now()).toISOString();
    return {
      unreachableSince: isReachable ? null : since,
      pendingWrites: buffer?.pending ?? 0,
      queue:
        buffer === undefined || (buffer.available && !buffer.halted) ? 'ok' : buffer.halted ? 'halted' : 'unavailable',
    };
  }
}
