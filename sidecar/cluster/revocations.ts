import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';

const LOOK_MS = 2000;
const LOOK_TIMEOUT_MS = 5000;
/** Longest wait of a start for a database that is away. */
const FIRST_LOOK_MS = 2000;

export interface RevocationsOptions {
  readonly engine: Pick<Engine, 'cluster'>;
  /** Keys of this sidecar. */
  readonly kids: readonly string[];
  readonly log: EngineLog;
}

/**
 * Revoked keys of the database (`_revoked`), read every 2 s. The last reading holds while the database is away; a revoked key
 * stays revoked until the process ends.
 */
export class Revocations {
  readonly #options: RevocationsOptions;
  readonly #revoked = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  /** Never rejects. */
  #look: Promise<void> | null = null;

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  has(kid: string): boolean {
    return this.#revoked.has(kid);
  }

  /** Resolves after the first look, also if it failed. */
  async begin(): Promise<void> {
    this.#timer = setInterval(() => void this.#lookSoon(LOOK_TIMEOUT_MS), LOOK_MS);
    this.#timer.unref();
    await this.#lookSoon(FIRST_LOOK_MS);
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#look;
  }

  /** Joins a look that still runs. */
  #lookSoon(timeoutMs: number): Promise<void> {
    this.#look ??= this.#lookNow(timeoutMs)
      // The next look retries; calls report a database that is away.
      .catch(() => {})
      .finally(() => {
        this.#look = null;
      });
    return this.#look;
  }

  async #lookNow(timeoutMs: number): Promise<void> {
    const bounds = { deadline: performance.now() + timeoutMs };
    for (const { kid, revokedAt } of await this.#options.engine.cluster.listRevoked(bounds)) {
      if (this.#revoked.has(kid)) continue;
      this.#revoked.add(kid);
      if (this.#options.kids.includes(kid)) this.#tell(kid, revokedAt);
    }
  }

  #tell(kid: string, revokedAt: number): void {
    this.#options.log(
      'warn',
      'this key was revoked and is refused: remove it with keys revoke; a new key needs another name',
      {
        kid,
        revokedAt: new Date(revokedAt).toISOString(),
      },
    );
  }
}
