const MINUTE_MS = 60_000;
const MAX_SOURCES = 10_000;
/** Time stamps kept over all sources. */
const MAX_FAILURES = 2_000_000;

interface Source {
  /** Monotonic times of failures within the last minute, oldest first. */
  failures: number[];
  lockedUntil: number;
}

/**
 * Failed authentications of a source (contract section 3.6): the N-th within a sliding minute closes it for
 * `lockoutSeconds`. Refusals while it is closed do not count. Memory is bounded; of too many sources, those that are
 * not locked are forgotten first.
 */
export class LockOut {
  readonly #mostFailures: number;
  readonly #lockoutMs: number;
  readonly #maxSources: number;
  readonly #sources = new Map<string, Source>();

  constructor(failuresPerMinute: number, lockoutSeconds: number) {
    this.#mostFailures = failuresPerMinute;
    this.#lockoutMs = lockoutSeconds * 1000;
    this.#maxSources = Math.max(100, Math.min(MAX_SOURCES, Math.floor(MAX_FAILURES / failuresPerMinute)));
  }

  /** False while no authentication has failed: then no source needs to be looked for. */
  get hasSources(): boolean {
    return this.#sources.size > 0;
  }

  /** Milliseconds until the source is served again; 0 if it is not locked. */
  remainingMs(source: string, nowMs: number): number {
    const known = this.#sources.get(source);
    return known === undefined ? 0 : Math.max(0, known.lockedUntil - nowMs);
  }

  /** True if this failure locks the source. */
  fail(source: string, nowMs: number): boolean {
    const known = this.#sources.get(source) ?? this.#open(source, nowMs);
    known.failures = known.failures.filter((time) => time > nowMs - MINUTE_MS);
    known.failures.push(nowMs);
    if (known.failures.length < this.#mostFailures) return false;
    known.failures = [];
    known.lockedUntil = nowMs + this.#lockoutMs;
    return true;
  }

  #open(source: string, nowMs: number): Source {
    if (this.#sources.size >= this.#maxSources) this.#forgetOne(nowMs);
    const opened = { failures: [], lockedUntil: 0 };
    this.#sources.set(source, opened);
    return opened;
  }

  #forgetOne(nowMs: number): void {
    let victim: string | undefined;
    for (const [name, source] of this.#sources) {
      victim ??= name;
      if (source.lockedUntil > nowMs) continue;
      victim = name;
      break;
    }
    if (victim !== undefined) this.#sources.delete(victim);
  }
}
