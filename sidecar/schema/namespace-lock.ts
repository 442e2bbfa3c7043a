import { hostname } from 'node:os';
import { sha256Hex } from '#protocol/canonical-json.ts';
import type { EngineLog } from '../engine/log.ts';
import type { SchemaCalls } from '../engine/schema-calls.ts';

const RENEW_EVERY_MS = 3000;
const RENEWAL_TIMEOUT_MS = 5000;
const RELEASE_TIMEOUT_MS = 10_000;

export interface LockOptions {
  readonly engine: { readonly schemas: Pick<SchemaCalls, 'lockNamespace' | 'unlockNamespace'> };
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: EngineLog;
}

/** The lock of a namespace between processes, renewed until it is released. */
export class NamespaceLock {
  readonly #namespace: string;
  readonly #options: LockOptions;
  readonly #timer: NodeJS.Timeout;
  /** Never rejects. */
  #renewal: Promise<void> = Promise.resolve();

  private constructor(namespace: string, options: LockOptions) {
    this.#namespace = namespace;
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#renewal = this.#renewal.then(() => this.#renew());
    }, RENEW_EVERY_MS);
    this.#timer.unref();
  }

  /** Null if another process holds the lock. `deadline` in `performance.now()` milliseconds. */
  static async acquire(namespace: string, options: LockOptions, deadline: number): Promise<NamespaceLock | null> {
    const { engine, owner, now } = options;
    const isHeld = await engine.schemas.lockNamespace(namespace, owner, now(), { deadline });
    return isHeld ? new NamespaceLock(namespace, options) : null;
  }

  /** Never rejects: a lock that stays behind is taken over, its own at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    // A renewal after the release would leave a lock that nobody holds.
    await this.#renewal;
    const { engine, owner } = this.#options;
    try {
      await engine.schemas.unlockNamespace(this.#namespace, owner, {
        deadline: performance.now() + RELEASE_TIMEOUT_MS,
      });
    } catch {
      this.#options.log('warn', 'a schema lock stays behind and is taken over later', { namespace: this.#namespace });
    }
  }

  async #renew(): Promise<void> {
    const { engine, owner, now } = this.#options;
    try {
      await engine.schemas.lockNamespace(this.#namespace, owner, now(), {
        deadline: performance.now() + RENEWAL_TIMEOUT_MS,
      });
    } catch {
      // The change itself may keep the database busy; it holds more than the lock then.
    }
  }
}

/**
 * Name of a lock's owner, equal over restarts of one sidecar: it takes over its own old lock at once (contract section 6).
 * `place`: the absolute path of its configuration, which identifies the sidecar on its machine.
 */
export function lockOwner(place: string): string {
  return `${hostname()}:${sha256Hex(place).slice(0, 16)}`;
}
