import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { WorkerState } from '../client/api-link.ts';
import type { Attempt } from '../client/attempt.ts';
import { ABANDONED } from '../client/exchange.ts';
import { openLinks } from '../client/open-links.ts';
import { OrderedTable } from '../client/ordered-table.ts';
import { errorResult, type Outcome } from '../client/outcome.ts';
import type { SignedLink } from '../client/signed-link.ts';
import type { Cancel, Timers } from '../client/timers.ts';
import type { Transport } from '../client/transport.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Say } from '../config/say.ts';
import { END_FIELDS, endAt, type Field, type Order, pushCall, type Report } from './messages.ts';

const LOOK_MS = 1000;
/** Looks without a word from a worker that has work, before it is asked whether it lives; and as many again for its answer. */
const SILENT_LOOKS = 3;
const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 30_000;
/** After a worker that lived so long the back-off begins again. */
const GOOD_LIFE_MS = 60_000;

export interface LinkThreadOptions {
  readonly configuration: Configuration;
  /** Text of the worker's program. */
  readonly code: string;
  readonly timers: Timers;
  readonly log: Say;
}

interface Probe {
  resolve(seconds: number): void;
  reject(error: Error): void;
}

/**
 * Attempts at all addresses in a thread of their own: the game's thread hands over a list of calls a tick, and reads lists of
 * results when a script collects. While the worker is down, attempts are made in the game's thread.
 */
export class LinkThread {
  readonly #options: LinkThreadOptions;
  readonly ready: Promise<void>;
  readonly #readiness = Promise.withResolvers<void>();
  readonly #attempts = new OrderedTable<number, Attempt>();
  readonly #probes = new Map<number, Probe>();
  /** Fields of the calls of this tick. */
  #calls: Field[] = [];
  #worker: Worker | null = null;
  /** Lists of ends; nothing listens, so that a message does not wake the script. */
  #ends: MessagePort | null = null;
  /** How many of them were read; the worker looks at it. */
  #read: Int32Array = new Int32Array(1);
  /** The worker takes attempts. */
  #isUp = false;
  /** It cannot be started any more. */
  #isDenied = false;
  /** In the order of the addresses. */
  #inThread: readonly SignedLink[] | null = null;
  #transports: Transport['name'][] = [];
  #chosen = 0;
  #lastId = 0;
  #startedAt = 0;
  #silentLooks = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #isDestroyed = false;
  readonly #stopLooks: Cancel;
  #cancelStart: Cancel | null = null;

  /** @throws what the host throws if it allows no threads */
  constructor(options: LinkThreadOptions) {
    this.#options = options;
    this.ready = this.#readiness.promise;
    this.#start();
    // The first attempts wait for the first worker; later ones need not.
    this.#isUp = true;
    this.#stopLooks = options.timers.every(LOOK_MS, () => this.#look());
  }

  transportTo(address: number): Transport['name'] {
    return (this.#isUp ? this.#transports[address] : this.#inThread?.[address]?.transport) ?? 'post';
  }

  get state(): WorkerState {
    if (this.#isDenied) return 'denied';
    return this.#isUp ? 'running' : 'restarting';
  }

  choose(address: number): void {
    this.#chosen = address;
    this.#order({ kind: 'choose', address });
    for (const [place, link] of this.#inThread?.entries() ?? []) link.setChosen(place === address);
  }

  attempt(address: number, attempt: Attempt): void {
    if (!this.#isUp) {
      this.#ownLink(address)?.attempt(attempt);
      return;
    }
    this.#lastId += 1;
    attempt.begunAt = this.#options.timers.elapsed();
    this.#attempts.add(this.#lastId, attempt);
    // The calls of one tick go over in one message.
    if (this.#calls.length === 0) queueMicrotask(() => this.#handOver());
    pushCall(this.#calls, this.#lastId, address, attempt);
  }

  abandon(attempt: Attempt): void {
    const [id] = [...this.#attempts.entries()].find(([, underWay]) => underWay === attempt) ?? [];
    if (id === undefined) {
      attempt.abandon();
      return;
    }
    this.#attempts.take(id);
    this.#order({ kind: 'abandon', id });
    attempt.ended(noAnswer(ABANDONED.reason, 'failure'), 0, null);
  }

  probe(address: number): Promise<number> {
    const own = this.#isUp ? undefined : this.#ownLink(address);
    if (own !== undefined) return own.probe();
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#probes.set(id, { resolve, reject });
      this.#order({ kind: 'probe', id, address });
    });
  }

  /** Reads the ends that wait. */
  collect(): void {
    if (this.#ends === null) return;
    for (let list = receiveMessageOnPort(this.#ends); list !== undefined; list = receiveMessageOnPort(this.#ends)) {
      this.#silentLooks = 0;
      Atomics.add(this.#read, 0, 1);
      const fields = list.message as readonly Field[];
      for (let at = 0; at < fields.length; at += END_FIELDS) this.#end(endAt(fields, at));
    }
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#stopLooks();
    this.#cancelStart?.();
    const ended = this.#worker?.terminate();
    this.#worker = null;
    this.#isUp = false;
    this.#readiness.resolve();
    this.#endAll('the connector has stopped');
    await Promise.all([ended, ...(this.#inThread ?? []).map((link) => link.destroy())]);
  }

  #start(): void {
    // An empty environment: that of the process may hold the secret.
    const worker = new Worker(this.#options.code, {
      eval: true,
      name: 'db_connector',
      argv: [],
      execArgv: [],
      env: {},
    });
    this.#worker = worker;
    this.#transports = [];
    this.#startedAt = this.#options.timers.elapsed();
    this.#silentLooks = 0;
    worker.on('message', (report: Report) => {
      if (worker === this.#worker) this.#hear(report);
    });
    worker.on('error', (error: Error) => this.#onDeath(worker, error.message));
    worker.on('exit', (code) => this.#onDeath(worker, `code ${code}`));
    const { config, ca, key } = this.#options.configuration;
    const { port1, port2 } = new MessageChannel();
    this.#ends = port1;
    this.#read = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    this.#order({ kind: 'open', config, ca, key: key.handOver(), ends: port2, read: this.#read }, [port2]);
    if (this.#chosen !== 0) this.#order({ kind: 'choose', address: this.#chosen });
  }

  #order(order: Order, transfer: readonly MessagePort[] = []): void {
    this.#worker?.postMessage(order, transfer);
  }

  #handOver(): void {
    const fields = this.#calls;
    this.#calls = [];
    this.#order({ kind: 'calls', fields });
  }

  #hear(report: Report): void {
    this.#silentLooks = 0;
    this.#isUp = true;
    this.#readiness.resolve();
    switch (report.kind) {
      case 'ended':
        this.collect();
        return;
      case 'fault':
        this.#attempts.take(report.id)?.failed(new Error(`in the worker: ${report.problem}`));
        return;
      case 'probed':
        this.#takeProbe(report.id)?.resolve(report.seconds);
        return;
      case 'notProbed':
        this.#takeProbe(report.id)?.reject(new Error(report.reason));
        return;
      case 'transport':
        this.#transports[report.address] = report.name;
        return;
      case 'pong':
        return;
      default:
        report satisfies never;
    }
  }

  #end({ id, outcome, tookMs, told }: ReturnType<typeof endAt>): void {
    const attempt = this.#attempts.take(id);
    if (attempt === undefined) return;
    // Time beyond the worker's own: this thread was busy.
    const stalledMs = Math.max(0, this.#options.timers.elapsed() - attempt.begunAt - tookMs);
    attempt.ended(outcome, stalledMs, told);
  }

  #takeProbe(id: number): Probe | undefined {
    const probe = this.#probes.get(id);
    this.#probes.delete(id);
    return probe;
  }

  /** Counts looks and no time: while this thread stands still, reports wait unread. */
  #look(): void {
    if (this.#worker === null) return;
    if (this.#isUp && this.#inThread?.every(({ isIdle }) => isIdle) === true) {
      for (const link of this.#inThread) void link.destroy();
      this.#inThread = null;
    }
    const mustAnswer = !this.#isUp || this.#attempts.size + this.#probes.size > 0;
    this.#silentLooks = mustAnswer ? this.#silentLooks + 1 : 0;
    if (this.#silentLooks === SILENT_LOOKS) this.#order({ kind: 'ping' });
    if (this.#silentLooks < 2 * SILENT_LOOKS) return;
    const worker = this.#worker;
    this.#onDeath(worker, 'it does not answer');
    void worker.terminate();
  }

  #onDeath(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    const { timers, log } = this.#options;
    this.collect();
    this.#worker = null;
    this.#isUp = false;
    if (timers.elapsed() - this.#startedAt > GOOD_LIFE_MS) this.#pauseMs = FIRST_PAUSE_MS;
    log(
      `the connector's worker has ended (${reason}): calls go out from the game's thread until it is started again in ${this.#pauseMs / 1000} s`,
      'warning',
    );
    this.#readiness.resolve();
    this.#cancelStart = timers.after(this.#pauseMs, () => this.#restart());
    this.#pauseMs = Math.min(2 * this.#pauseMs, LAST_PAUSE_MS);
    this.#endAll("the connector's worker has ended");
  }

  #restart(): void {
    try {
      if (!this.#isDestroyed) this.#start();
    } catch (error) {
      this.#isDenied = true;
      this.#options.log(`the connector's worker cannot be started again: ${String(error)}`, 'bad');
    }
  }

  /** The API is not to blame, so the circuit breaker does not count it. */
  #endAll(reason: string): void {
    const outcome = noAnswer(reason, 'nothing');
    const [attempts, probes] = [[...this.#attempts.entries()], [...this.#probes.values()]];
    this.#attempts.clear();
    this.#probes.clear();
    this.#calls = [];
    for (const [, attempt] of attempts) attempt.ended(outcome, 0, null);
    for (const probe of probes) probe.reject(new Error(reason));
  }

  #ownLink(address: number): SignedLink | undefined {
    if (this.#inThread === null) {
      const { configuration, timers } = this.#options;
      this.#inThread = openLinks(configuration, timers, 'restarting');
      this.choose(this.#chosen);
    }
    return this.#inThread[address];
  }
}

function noAnswer(reason: string, transport: Outcome['transport']): Outcome {
  return { result: errorResult('network', reason), transport, next: 'again', retryAfterMs: null };
}
