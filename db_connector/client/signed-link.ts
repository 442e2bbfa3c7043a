import type { Configuration } from '../config/configuration.ts';
import { nonceFor } from '../protocol/envelope.ts';
import { parseServerTiming, type ServerTiming } from '../protocol/server-timing.ts';
import { signRequest } from '../protocol/signing.ts';
import type { ApiLink, WorkerState } from './api-link.ts';
import { probe } from './api-time.ts';
import type { Attempt } from './attempt.ts';
import type { ExchangeEnd } from './exchange.ts';
import { judge } from './judge.ts';
import { randomId } from './random-id.ts';
import type { Timers } from './timers.ts';
import type { Transport } from './transport.ts';

/** After a refusal that the id in the nonce may be the reason of; the next probe after it learns the id. */
const NAMELESS_MS = 300_000;

/** Signs, sends and judges in the thread that it is made in. */
export class SignedLink implements ApiLink {
  readonly #configuration: Configuration;
  readonly #timers: Timers;
  readonly #transport: Transport;
  readonly worker: WorkerState;
  readonly ready = null;
  #underWay = 0;
  /** Id of the sidecar there, which each nonce names; null if it is not known. */
  #instance: string | null = null;
  #namelessUntil = Number.NEGATIVE_INFINITY;

  /** @param worker why it is this thread */
  constructor(configuration: Configuration, timers: Timers, transport: Transport, worker: WorkerState = 'off') {
    this.worker = worker;
    this.#configuration = configuration;
    this.#timers = timers;
    this.#transport = transport;
  }

  get transport(): Transport['name'] {
    return this.#transport.name;
  }

  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  setChosen(isChosen: boolean): void {
    this.#transport.setChosen(isChosen);
  }

  attempt(attempt: Attempt): void {
    this.#underWay += 1;
    const { key, config } = this.#configuration;
    try {
      attempt.judgedBy = this;
      attempt.kid = config.keyId;
      attempt.nonce = this.#instance === null ? randomId() : nonceFor(this.#instance, randomId());
      attempt.sig = signRequest(key, attempt.path, attempt.kid, attempt.ts, attempt.nonce, attempt.payload);
      this.#transport.send(attempt);
    } catch (error) {
      this.fault(attempt, error);
    }
  }

  collect(): void {
    // Attempts end where they are made.
  }

  abandon(attempt: Attempt): void {
    attempt.abandon();
  }

  judge(attempt: Attempt, end: ExchangeEnd, stalledMs: number): void {
    const { key } = this.#configuration;
    const outcome = judge(end, { key, nonce: attempt.nonce, now: this.#timers.now });
    if (outcome.next === 'setClock' && this.#instance !== null) this.#forgetInstance();
    attempt.judgedBy = null;
    this.#underWay -= 1;
    attempt.ended(outcome, stalledMs, timingOf(end));
  }

  fault(attempt: Attempt, error: unknown): void {
    // A fault after the end is none of the attempt's.
    if (attempt.judgedBy === null) throw error;
    attempt.judgedBy = null;
    this.#underWay -= 1;
    attempt.failed(error);
  }

  async probe(): Promise<number> {
    const { seconds, instance } = await probe(this.#configuration.config, this.#transport);
    if (this.#timers.elapsed() >= this.#namelessUntil) this.#instance = instance;
    return seconds;
  }

  /** Another sidecar may answer there now, or several in turn: no nonce names one for a while. */
  #forgetInstance(): void {
    this.#instance = null;
    this.#namelessUntil = this.#timers.elapsed() + NAMELESS_MS;
  }

  destroy(): Promise<void> {
    return this.#transport.destroy();
  }
}

function timingOf(end: ExchangeEnd): ServerTiming | null {
  if (end.kind === 'frame') return end.answer.sig === null ? null : end.answer;
  return end.kind === 'answer' && end.serverTiming ? parseServerTiming(end.serverTiming) : null;
}
