import { setTimeout as wait } from 'node:timers/promises';

/** A line as the bridge takes it. */
export interface SentLine {
  readonly time: string;
  readonly level: string;
  readonly module: string;
  readonly text: string;
}

export interface SenderOptions {
  /** URL of `POST /lines`. */
  readonly url: string;
  readonly token: string;
  readonly printError: (line: string) => void;
  /** Between two attempts; doubles. */
  readonly firstPauseMs?: number;
  /** How long the end waits for what is left. */
  readonly finishMs?: number;
}

const MOST_WAITING = 20_000;
const BATCH_LINES = 500;
const BATCH_CHARS = 400_000;
const MAX_TEXT = 16_384;
const GATHER_MS = 200;
const LONGEST_PAUSE_MS = 15_000;
const ANSWER_MS = 20_000;

/** Sends lines in order and in batches, again and again while the bridge is away. What there is no room for is counted and told. */
export class BridgeSender {
  /** Resolves if the bridge says that trying again is useless. */
  readonly refused: Promise<void>;
  readonly #options: SenderOptions;
  readonly #stop = new AbortController();
  #onRefused: () => void;
  #waiting: SentLine[] = [];
  #dropped = 0;
  #isAway = false;
  #sending: Promise<void> | null = null;

  constructor(options: SenderOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.refused = promise;
    this.#onRefused = resolve;
    this.#options = options;
  }

  add(line: SentLine): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line.text.length > MAX_TEXT ? { ...line, text: line.text.slice(0, MAX_TEXT) } : line);
    this.#sending ??= this.#pump().finally(() => {
      this.#sending = null;
    });
  }

  /** Whether all that was added has arrived. */
  async finish(): Promise<boolean> {
    const late = setTimeout(() => this.#stop.abort(), this.#options.finishMs ?? 30_000);
    await this.#sending;
    clearTimeout(late);
    const left = this.#waiting.length + this.#dropped;
    if (left > 0) this.#options.printError(`bridge-send: ${left} lines did not arrive`);
    return left === 0;
  }

  async #pump(): Promise<void> {
    let pauseMs = this.#options.firstPauseMs ?? 500;
    await this.#wait(GATHER_MS);
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const batch = this.#nextBatch();
      const problem = await this.#send(batch);
      if (problem === null) {
        this.#waiting.splice(0, batch.length);
        this.#noteDropped();
        pauseMs = this.#options.firstPauseMs ?? 500;
        if (this.#isAway) this.#options.printError('bridge-send: the bridge takes lines again');
        this.#isAway = false;
        continue;
      }
      if (!this.#isAway) this.#options.printError(`bridge-send: ${problem}; trying again`);
      this.#isAway = true;
      await this.#wait(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  #nextBatch(): SentLine[] {
    let chars = 0;
    const end = this.#waiting.findIndex(({ text }, index) => {
      chars += text.length + 100;
      return index >= BATCH_LINES || (chars > BATCH_CHARS && index > 0);
    });
    return this.#waiting.slice(0, end === -1 ? undefined : end);
  }

  /** In the log itself, where lines are missing. */
  #noteDropped(): void {
    if (this.#dropped === 0) return;
    const text = `${this.#dropped} lines are missing here: the bridge was away for too long`;
    this.#dropped = 0;
    this.#waiting.push({ time: new Date().toISOString(), level: 'warn', module: 'bridge-send', text });
  }

  /** Null if it has arrived, else the reason why not. */
  async #send(batch: readonly SentLine[]): Promise<string | null> {
    const { url, token } = this.#options;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        body: batch.map((line) => `${JSON.stringify(line)}\n`).join(''),
        redirect: 'error',
        signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ANSWER_MS)]),
      });
      const { error } = (await response.json().catch(() => ({}))) as { error?: string };
      if (response.ok) return null;
      if (response.status < 500 && response.status !== 429) this.#refuse(`${response.status}: ${error ?? 'no bridge'}`);
      return `the bridge answers ${response.status}`;
    } catch (error) {
      const cause = (error as { cause?: { code?: string } }).cause?.code;
      return `the bridge cannot be reached${cause === undefined ? '' : `: ${cause}`}`;
    }
  }

  #refuse(why: string): void {
    this.#options.printError(`bridge-send: refused with ${why}`);
    this.#stop.abort();
    this.#onRefused();
  }

  #wait(ms: number): Promise<void> {
    return wait(ms, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}
