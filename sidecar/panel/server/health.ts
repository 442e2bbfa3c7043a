import type { Health, ServerBackend } from './process/backends/backend.ts';
import type { GameProcess } from './process/game-process.ts';

const STARTING_EVERY_MS = 1000;
const RUNNING_EVERY_MS = { shortest: 100, longest: 5000 };
const LONGEST_ANSWER_MS = 5000;
/** A timer that is at least this late: the machine has slept, and the server could not answer. */
const SLEPT_MS = 2000;

export interface HealthWatchOptions {
  readonly ask: NonNullable<ServerBackend['ask']>;
  readonly process: GameProcess;
  readonly hangMs: () => number;
  readonly isStarting: () => boolean;
  /** A server that never answers counts as running after this time; null: it stays `starting`, and may hang. */
  readonly longestStartMs: number | null;
  /** The server answers, or has had long enough to. */
  readonly onUp: () => void;
  readonly onHealth: (health: Health) => void;
  /** Time since the last sign of life; null: the server is well again. */
  readonly onHung: (silentMs: number | null) => void;
}

/** Asks a server for its health at intervals, and reports a hang if neither an answer nor a line has come for too long. */
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

  /** Any output is a sign of life. */
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
