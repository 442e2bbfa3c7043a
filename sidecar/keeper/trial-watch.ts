import type { KeeperTimes } from './keeper-times.ts';

export interface TrialReader {
  /** Sends a question to the release. */
  readonly ask: (id: number) => void;
  readonly onProven: () => void;
  /** @param reason English, for the owner */
  readonly onFailed: (reason: string) => void;
}

/** A new release on trial: it must report that it serves, and then answer every question for a while. */
export class TrialWatch {
  readonly #times: KeeperTimes;
  readonly #reader: TrialReader;
  #timer: NodeJS.Timeout;
  #asked = 0;
  #provenAt: number | null = null;

  constructor(times: KeeperTimes, reader: TrialReader) {
    this.#times = times;
    this.#reader = reader;
    this.#timer = setTimeout(() => this.#fail(`it did not serve within ${seconds(times.readyMs)}`), times.readyMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  noteReady(): void {
    if (this.#provenAt !== null) return;
    this.#provenAt = performance.now() + this.#times.provenMs;
    this.#ask();
  }

  noteAnswer(id: number, isWell: boolean): void {
    if (id !== this.#asked) return;
    clearTimeout(this.#timer);
    if (!isWell) {
      this.#fail('its panel or its API did not answer');
    } else if (performance.now() >= (this.#provenAt ?? Number.POSITIVE_INFINITY)) {
      this.#reader.onProven();
    } else this.#timer = setTimeout(() => this.#ask(), this.#times.askEveryMs);
  }

  #ask(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
    const { answerMs } = this.#times;
    this.#timer = setTimeout(() => this.#fail(`it gave no answer within ${seconds(answerMs)}`), answerMs);
    this.#reader.ask(this.#asked);
  }

  #fail(reason: string): void {
    this.stop();
    this.#reader.onFailed(reason);
  }
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
