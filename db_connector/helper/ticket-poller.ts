import type { BundleEvent, DatabaseHost } from './host.ts';
import { type DbResult, type DbTicket, errorResult, refusedTicket, resultOfRefusal, UNNAMED_TICKET } from './result.ts';
import { type Call, WaitingCalls } from './waiting-calls.ts';

/** A tick of the standalone server. */
const TICK_MS = 20;
/** Results beyond this time wait for the next tick, so that the game goes on. */
const BUDGET_MS = 4;
/** A call that has waited long is asked for less often: it has time, and hundreds of them would cost. */
const AGE_PER_PAUSE = 10;
const LONGEST_PAUSE_MS = 200;

interface Pending {
  readonly connector: string;
  readonly deliver: (result: DbResult) => void;
  readonly beganAt: number;
  dueAt: number;
}

interface Known {
  readonly result: DbResult;
  readonly deliver: (result: DbResult) => void;
}

/**
 * Sends the calls of one bundle, and collects their results with one poll a tick; none while nothing is pending.
 * Each call that was begun is delivered exactly once, and never before the caller has gone on.
 */
export class TicketPoller {
  readonly #host: DatabaseHost;
  readonly #pending = new Map<string, Pending>();
  /** Answers that are known already, to be delivered with the next poll. */
  #known: Known[] = [];
  readonly #waiting = new WaitingCalls();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isStopped = false;

  constructor(host: DatabaseHost) {
    this.#host = host;
    host.on('bundle', (event) => this.#onBundle(event));
  }

  /** The bundle itself has been stopped. Its last calls, from its stop function, still go out. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * A call for which the connector has no place waits here, and so do those that come after it.
   *
   * @param deliver must not throw
   */
  call(connector: string, operation: string, json: string, deliver: (result: DbResult) => void): DbTicket {
    const call = { connector, operation, json, deliver };
    if (this.#waiting.isEmpty) {
      const ticket = this.#send(call);
      if (!isBusy(ticket)) return this.#follow(ticket, call);
    }
    if (!this.#waiting.add(call)) {
      return this.refuse(refusedTicket('busy', `${this.#waiting.size} calls of this bundle wait already`), deliver);
    }
    this.#wake();
    return UNNAMED_TICKET;
  }

  /** Follows a call that the connector was given. */
  #follow(ticket: DbTicket, { connector, deliver }: Call): DbTicket {
    if (!ticket.Accepted) return this.refuse(ticket, deliver);
    const now = performance.now();
    this.#pending.set(ticket.Id, { connector, deliver, beganAt: now, dueAt: now });
    this.#wake();
    return ticket;
  }

  /** A call that does not go out: its callback hears of it as of any other answer. */
  refuse(ticket: DbTicket, deliver: (result: DbResult) => void): DbTicket {
    this.#known.push({ result: resultOfRefusal(ticket), deliver });
    this.#wake();
    return ticket;
  }

  #send({ connector, operation, json }: Call): DbTicket {
    try {
      const ticket = this.#host.exports.call(connector, 'Call', { Operation: operation, Json: json });
      return isTicket(ticket) ? ticket : refusedTicket('internal', 'the connector answered with no ticket');
    } catch (error) {
      return refusedTicket('bundle_unavailable', `${connector} is not running (${messageOf(error)})`);
    }
  }

  #wake(): void {
    this.#timer ??= setInterval(() => this.#poll(), TICK_MS);
  }

  #poll(): void {
    const now = performance.now();
    const isOverBudget = () => performance.now() - now > BUDGET_MS;
    this.#deliverKnown(isOverBudget);
    this.#sendWaiting(now, isOverBudget);
    for (const [id, pending] of this.#pending) {
      // A call that a callback has just begun waits for the next tick.
      if (pending.dueAt >= now) continue;
      const result = this.#take(pending.connector, id);
      if (result === null) {
        pending.dueAt = now + Math.min((now - pending.beganAt) / AGE_PER_PAUSE, LONGEST_PAUSE_MS);
      } else if (this.#pending.delete(id)) {
        this.#waiting.expectPlace();
        pending.deliver(result);
        if (isOverBudget()) break;
      }
    }
    if (this.#pending.size === 0 && this.#known.length === 0 && this.#waiting.isEmpty) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  /** In the order in which they came, as long as there are places. */
  #sendWaiting(now: number, isOverBudget: () => boolean): void {
    while (this.#waiting.isDue(now) && !isOverBudget()) {
      const call = this.#waiting.first();
      if (call === undefined) return;
      const ticket = this.#send(call);
      if (isBusy(ticket)) {
        this.#waiting.postpone(now);
        return;
      }
      this.#waiting.removeFirst();
      this.#follow(ticket, call);
    }
  }

  /** Results that become known meanwhile wait for the next tick. */
  #deliverKnown(isOverBudget: () => boolean): void {
    const known = this.#known;
    this.#known = [];
    for (const [index, { result, deliver }] of known.entries()) {
      deliver(result);
      if (!isOverBudget()) continue;
      this.#known = [...known.slice(index + 1), ...this.#known];
      return;
    }
  }

  /** null while the answer is not there. */
  #take(connector: string, id: string): DbResult | null {
    let taken: unknown;
    try {
      taken = this.#host.exports.call(connector, 'TakeResult', { Id: id });
    } catch (error) {
      return lost(id, `${connector} has stopped (${messageOf(error)})`);
    }
    const state = typeof taken === 'object' && taken !== null && 'State' in taken ? taken.State : undefined;
    if (state === 'pending') return null;
    return isResult(taken) ? taken : lost(id, `${connector} no longer knows the call; was it restarted?`);
  }

  #onBundle({ bundle, state }: BundleEvent): void {
    if (bundle === this.#host.name) this.#isStopped = state === 'stopped' || state === 'failed';
    this.#waiting.expectPlace();
    if (state === 'started') return;
    for (const [id, { connector, deliver }] of this.#pending) {
      if (connector !== bundle) continue;
      this.#pending.delete(id);
      this.#known.push({ result: lost(id, `${connector} has stopped`), deliver });
    }
  }
}

/** Whether the database did what was asked is not known then. */
function lost(id: string, why: string): DbResult {
  return errorResult('bundle_unavailable', `${why}; the outcome of the call is unknown`, id);
}

function isBusy({ Accepted, Error: refusal }: DbTicket): boolean {
  return !Accepted && refusal.startsWith('busy:');
}

function isTicket(value: unknown): value is DbTicket {
  return (
    typeof value === 'object' &&
    value !== null &&
    'Id' in value &&
    typeof value.Id === 'string' &&
    'Accepted' in value &&
    typeof value.Accepted === 'boolean' &&
    'Error' in value &&
    typeof value.Error === 'string'
  );
}

function isResult(value: unknown): value is DbResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    'State' in value &&
    (value.State === 'ok' || value.State === 'error') &&
    'Code' in value &&
    typeof value.Code === 'string' &&
    'Json' in value &&
    typeof value.Json === 'string'
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const pollers = new WeakMap<object, TicketPoller>();

/** A single poller for each bundle, however many `Database` it makes. */
export function pollerOf(host: DatabaseHost): TicketPoller {
  let poller = pollers.get(host);
  if (poller === undefined) {
    poller = new TicketPoller(host);
    pollers.set(host, poller);
  }
  return poller;
}
