import type { MessagePort } from 'node:worker_threads';
import { describeError, diagnose } from '../failures.ts';
import type { Answer, FromWorker, WorkerLog } from './messages.ts';
import { monotonicMs } from './monotonic.ts';
import { packAnswers } from './packed.ts';

/** A broken disk fails every call; the same error is logged again only after this time. */
const REPEAT_LOG_MS = 10_000;

/** All messages from a worker to the API's thread. */
export class WorkerVoice {
  readonly #port: MessagePort;
  readonly #file: string;
  readonly #started: BigInt64Array;
  #brokenSince: number | null = null;
  #lastText = '';
  #lastAt = 0;

  constructor(port: MessagePort, file: string, started: SharedArrayBuffer) {
    this.#port = port;
    this.#file = file;
    this.#started = new BigInt64Array(started);
  }

  answer(answers: readonly Answer[], commits = 0): void {
    if (answers.length > 0) this.send({ type: 'answers', answers: packAnswers(answers), commits });
  }

  /** To be called before the deadline is checked: the API's thread then knows whether a call may still run. */
  publishStart(sequence: number): void {
    Atomics.store(this.#started, 0, BigInt(sequence));
  }

  reportBroken(error: unknown): void {
    const now = monotonicMs();
    const text = describeError(error);
    this.#brokenSince ??= now;
    if (text === this.#lastText && now - this.#lastAt < REPEAT_LOG_MS) return;
    this.#lastText = text;
    this.#lastAt = now;
    const { advice, failure } = diagnose(error);
    const fields = { file: this.#file, problem: text, advice: advice ?? '' };
    const isDiskFull = failure.kind === 'api' && failure.isDiskFull === true;
    this.#log({ level: 'error', message: 'database failed', fields, isDiskFull });
  }

  reportWorking(): void {
    if (this.#brokenSince === null) return;
    const seconds = Math.round((monotonicMs() - this.#brokenSince) / 1000);
    this.#brokenSince = null;
    this.#lastText = '';
    const fields = { file: this.#file, seconds };
    this.#log({ level: 'info', message: 'database works again', fields, isDiskFull: false });
  }

  #log(log: WorkerLog): void {
    this.send({ type: 'log', log });
  }

  send(message: FromWorker): void {
    this.#port.postMessage(message);
  }
}
