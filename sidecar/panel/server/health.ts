import type { Health, ServerBackend } from './process/backends/backend.ts';
import type { GameProcess } from './process/game-process.ts';

const STARTING_EVERY_MS = 1000;
const RUNNING_EVERY_MS = { shortest: 100, longest: 5000 };
const LONGEST_ANSWER_MS = 5000;
/** A timer that is as late as this has slept with the machine; nobody could have answered meanwhile. */
const SLEPT_MS = 2000;

export interface HealthWatchOptions {
  readonly ask: NonNullable<ServerBackend['ask']>;
  readonly process: GameProcess;
  readonly hangMs: () => number;
  readonly isStarting: () => boolean;
  /** A server that never answers counts as running then; null: it goes on to start, and may hang in it. */
  readonly longestStartMs: number | null;
  /** It answers, or has had long enough to. */
  readonly onUp: () => void;
  readonly onHealth: (health: Health) => void;
  /** How many milliseconds ago it gave its last sign of life; null: it is well again. */
  readonly onHung: (silentMs: number | null) => void;
}

/** Asks a server how it is, again and again, and tells when neither an answer nor a line has come for too long. */
export class HealthWatch {
  readonly #options: HealthWatchOptions;
  readonly #stopped = new AbortController();
  readonly #startedAt = performance.now();
  #lastSignAt = performance.now();
  #isHung = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HealthWatchOptions) {
    this.#options = options;
    this.#wait();
  }

  /** It has printed something. */
  noteOutput(): void {
    this.#lastSignAt = performance.now();
    if (this.#isHung) this.#tellWell();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopped.abort();
  }

  #wait(): void {
    const { shortest, longest } = RUNNING_EVERY_MS;
    const everyMs = this.#options.isStarting()
      ? STARTING_EVERY_MS
      : Math.min(Math.max(this.#options.hangMs() / 4, shortest), longest);
    const dueAt = performance.now() + everyMs;
    this.#timer = setTimeout(() => {
      const lateMs = performance.now() - dueAt;
      if (lateMs > SLEPT_MS) this.#lastSignAt += lateMs;
      void this.#look().finally(() => this.#stopped.signal.aborted || this.#wait());
    }, everyMs);
  }

  async #look(): Promise<void> {
    const hangMs = this.#options.hangMs();
    const limit = AbortSignal.timeout(Math.min(Math.max(hangMs, 1000), LONGEST_ANSWER_MS));
    const silence = { silentMs: performance.now() - this.#lastSignAt, hangMs };
    try {
      const signal = AbortSignal.any([limit, this.#stopped.signal]);
      const health = await this.#options.ask(this.#options.process, signal, silence);
      if (this.#stopped.signal.aborted) return;
      this.noteOutput();
      if (this.#options.isStarting()) this.#options.onUp();
      this.#options.onHealth(health);
    } catch {
      if (!this.#stopped.signal.aborted) this.#noteSilence();
    }
  }

  #noteSilence(): void {
    const now = performance.now();
    const { longestStartMs, isStarting, onUp } = this.#options;
    if (longestStartMs !== null && isStarting()) {
      if (now - this.#startedAt >= longestStartMs) onUp();
      return;
    }
    const silentMs = now - this.#lastSignAt;
    if (this.#isHung || silentMs < this.#options.hangMs()) return;
    this.#isHung = true;
    this.#options.onHung(silentMs);
  }

  #tellWell(): void {
    this.#isHung = false;
    this.#options.onHung(null);
  }
}
