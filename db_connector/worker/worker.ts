import { type MessagePort, parentPort } from 'node:worker_threads';
import { type ApiRequest, Attempt } from '../client/attempt.ts';
import { openLinks } from '../client/open-links.ts';
import { OrderedTable } from '../client/ordered-table.ts';
import type { Outcome } from '../client/outcome.ts';
import type { SignedLink } from '../client/signed-link.ts';
import { SYSTEM_TIMERS } from '../client/timers.ts';
import type { ServerTiming } from '../protocol/server-timing.ts';
import { SigningKey } from '../protocol/signing.ts';
import { CALL_FIELDS, callAt, type Field, type Order, pushEnd, type Report } from './messages.ts';

/** Ends wait so long for others at most: each message costs the game's thread as much as several ends. */
const GATHER_MS = 1;
/** Ends that are not read for so long are reported; a script that collects results in each tick reads them before. */
const UNREAD_MS = 30;

/** The worker's side: makes attempts, and reports their ends in as few messages as it can. */
class AttemptWorker {
  readonly #port: MessagePort;
  /** In the order of the addresses. */
  #links: readonly SignedLink[] = [];
  readonly #transports: string[] = [];
  /** By id. */
  readonly #underWay = new OrderedTable<number, WorkerAttempt>();
  #ends: Field[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Goes to the game's thread without waking its script. */
  #endsPort: MessagePort | null = null;
  /** Lists that were read, as the game's thread counts them, and lists that were sent. */
  #read: Int32Array = new Int32Array(1);
  #sent = 0;
  #unreadTimer: NodeJS.Timeout | null = null;
  #maxConcurrent = 1;
  /** Since the last list of ends: calls may wait for a place. */
  #areAllPlacesTaken = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (order: Order) => this.#obey(order));
  }

  ended(attempt: WorkerAttempt, outcome: Outcome, told: ServerTiming | null): void {
    this.#underWay.take(attempt.id);
    pushEnd(this.#ends, attempt.id, outcome, performance.now() - attempt.arrivedAt, told);
    if (this.#underWay.size === 0) queueMicrotask(() => this.#tell());
    else this.#timer ??= setTimeout(() => this.#tell(), GATHER_MS);
  }

  failed(attempt: WorkerAttempt, error: unknown): void {
    this.#underWay.take(attempt.id);
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#report({ kind: 'fault', id: attempt.id, problem });
  }

  #obey(order: Order): void {
    switch (order.kind) {
      case 'open':
        this.#open(order);
        return;
      case 'calls':
        for (let at = 0; at < order.fields.length; at += CALL_FIELDS) this.#attempt(callAt(order.fields, at));
        return;
      case 'abandon':
        this.#underWay.get(order.id)?.abandon();
        return;
      case 'probe':
        this.#probe(order.id, order.address);
        return;
      case 'choose':
        for (const [address, link] of this.#links.entries()) link.setChosen(address === order.address);
        return;
      case 'ping':
        this.#report({ kind: 'pong' });
        return;
      default:
        order satisfies never;
    }
  }

  #open({ config, ca, key, ends, read }: Extract<Order, { kind: 'open' }>): void {
    [this.#endsPort, this.#read, this.#maxConcurrent] = [ends, read, config.maxConcurrent];
    const configuration = { config, ca, key: new SigningKey(key), warnings: [] };
    key.fill(0);
    this.#links = openLinks(configuration, SYSTEM_TIMERS, 'off', (address, name) => {
      if (name !== (this.#transports[address] ?? 'post')) this.#report({ kind: 'transport', address, name });
      this.#transports[address] = name;
    });
    this.#report({ kind: 'pong' });
  }

  #attempt(call: ReturnType<typeof callAt>): void {
    const attempt = new WorkerAttempt(this, call);
    this.#underWay.add(attempt.id, attempt);
    this.#areAllPlacesTaken ||= this.#underWay.size >= this.#maxConcurrent;
    this.#links[call.address]?.attempt(attempt);
  }

  #probe(id: number, address: number): void {
    this.#links[address]?.probe().then(
      (seconds) => this.#report({ kind: 'probed', id, seconds }),
      (error: Error) => this.#report({ kind: 'notProbed', id, reason: error.message }),
    );
  }

  #tell(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#ends.length === 0) return;
    this.#endsPort?.postMessage(this.#ends);
    this.#ends = [];
    this.#sent = (this.#sent + 1) | 0;
    if (this.#areAllPlacesTaken) this.#report({ kind: 'ended' });
    else this.#waitForReader();
    this.#areAllPlacesTaken = false;
  }

  #waitForReader(): void {
    this.#unreadTimer ??= setTimeout((sent: number) => this.#lookAtUnread(sent), UNREAD_MS, this.#sent);
  }

  /** @param sent lists that there were when the wait began: a later one has not waited so long */
  #lookAtUnread(sent: number): void {
    this.#unreadTimer = null;
    const read = Atomics.load(this.#read, 0);
    if (((sent - read) | 0) > 0) this.#report({ kind: 'ended' });
    else if (read !== this.#sent) this.#waitForReader();
  }

  #report(report: Report): void {
    this.#port.postMessage(report);
  }
}

class WorkerAttempt extends Attempt {
  readonly id: number;
  readonly arrivedAt = performance.now();
  readonly #worker: AttemptWorker;

  constructor(worker: AttemptWorker, call: ReturnType<typeof callAt>) {
    const request: ApiRequest = {
      path: call.path,
      payload: call.payload,
      timeoutMs: call.isLong ? call.timeoutMs : null,
    };
    super(request);
    this.#worker = worker;
    this.id = call.id;
    this.ts = call.ts;
    this.timeoutMs = call.timeoutMs;
  }

  ended(outcome: Outcome, _stalledMs: number, told: ServerTiming | null): void {
    this.#worker.ended(this, outcome, told);
  }

  failed(error: unknown): void {
    this.#worker.failed(this, error);
  }
}

if (parentPort !== null) new AttemptWorker(parentPort);
