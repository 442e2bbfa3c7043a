import { CallSender, microtaskTurn } from './call-sender.ts';
import { ConnectorLink, lost, MAX_RECORDS } from './connector-link.ts';
import type { BundleEvent, DatabaseHost } from './host.ts';
import { LateTicket } from './late-ticket.ts';
import { type DbResult, type DbTicket, resultOfRefusal } from './result.ts';
import type { Call } from './waiting-calls.ts';

/** A tick of the standalone server. */
const TICK_MS = 20;
/** Results beyond this time wait for the next tick, so that the game goes on. */
const BUDGET_MS = 4;
/** A call that has waited long is asked for less often: it has time, and hundreds of them would cost. */
const AGE_PER_PAUSE = 10;
const LONGEST_PAUSE_MS = 200;

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
  readonly #link: ConnectorLink;
  readonly #sender: CallSender;
  /** In the order in which they went out. A `Set` that grows and shrinks with each tick makes garbage that lives long. */
  #pending: Call[] = [];
  /** Answers that are known already, to be delivered with the next poll. */
  #known: Known[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  /** When it last polled, or began to. */
  #polledAt = 0;
  #isStopped = false;

  constructor(host: DatabaseHost) {
    this.#host = host;
    this.#link = new ConnectorLink(host);
    const turn = host.turn ?? microtaskTurn(() => this.#pollWithTurn());
    this.#sender = new CallSender(this.#link, turn, (call) => this.#follow(call));
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
  call(connector: string, operation: string, json: string, deliver: (result: DbResult) => void): Call {
    const call = { connector, operation, json, deliver, ticket: undefined, beganAt: 0, dueAt: 0, isKnown: false };
    this.#sender.add(call);
    this.#wake();
    return call;
  }

  /** The ticket of a call. If the call has not gone out, a look at the ticket sends it. */
  ticketOf(call: Call): DbTicket {
    return call.ticket ?? new LateTicket(() => this.#sentTicketOf(call));
  }

  #sentTicketOf(call: Call): DbTicket {
    this.#sender.flush();
    return call.ticket as DbTicket;
  }

  /** Follows a call that the connector was given. */
  #follow(call: Call): void {
    const ticket = call.ticket as DbTicket;
    if (!ticket.Accepted) return void this.refuse(ticket, call.deliver);
    call.beganAt = performance.now();
    call.dueAt = call.beganAt;
    this.#pending.push(call);
  }

  /** A call that does not go out: its callback hears of it as of any other answer. */
  refuse(ticket: DbTicket, deliver: (result: DbResult) => void): DbTicket {
    this.#known.push({ result: resultOfRefusal(ticket), deliver });
    this.#wake();
    return ticket;
  }

  #wake(): void {
    if (this.#timer !== undefined) return;
    this.#polledAt = performance.now();
    this.#timer = setInterval(() => this.#poll(), TICK_MS);
  }

  /** A script that calls in each tick is polled for in the same turn: waking the thread for it again costs as much as several calls. */
  #pollWithTurn(): void {
    if (this.#timer === undefined || performance.now() - this.#polledAt < TICK_MS / 2) return;
    this.#timer.refresh();
    this.#poll();
  }

  #poll(): void {
    const now = performance.now();
    this.#polledAt = now;
    const isOverBudget = () => performance.now() - now > BUDGET_MS;
    this.#sender.sendWaiting(now, isOverBudget);
    let hasMore: boolean;
    do {
      hasMore = this.#collect(now);
      this.#deliver(isOverBudget);
    } while (hasMore && !isOverBudget());
    this.#sender.flush();
    if (this.#pending.length > 0 || this.#known.length > 0 || !this.#sender.isEmpty) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Takes one list of results. True if there are more calls to ask for in this tick. */
  #collect(now: number): boolean {
    if (this.#known.length >= MAX_RECORDS) return false;
    const due = this.#due(now);
    const calls = due.slice(0, MAX_RECORDS);
    if (calls.length === 0) return false;
    const results = this.#link.take(calls[0]?.connector ?? '', calls.map(idOf));
    for (let index = 0; index < calls.length; index += 1) {
      const result = results[index];
      if (result === undefined) break;
      this.#note(calls[index] as Call, result, now);
    }
    this.#pending = this.#pending.filter(isPending);
    return due.length > calls.length || results.includes(undefined);
  }

  /** Calls of one connector whose results are worth asking for, and one more if there are too many for a list. */
  #due(now: number): Call[] {
    const due: Call[] = [];
    for (const call of this.#pending) {
      // A call that a callback has just begun waits for the next tick.
      if (call.dueAt >= now || call.isKnown) continue;
      if (due.length > 0 && call.connector !== due[0]?.connector) break;
      if (due.push(call) > MAX_RECORDS) break;
    }
    return due;
  }

  #note(call: Call, result: DbResult | null, now: number): void {
    if (result === null) {
      call.dueAt = now + Math.min((now - call.beganAt) / AGE_PER_PAUSE, LONGEST_PAUSE_MS);
    } else if (!call.isKnown) {
      call.isKnown = true;
      this.#sender.expectPlace();
      this.#known.push({ result, deliver: call.deliver });
    }
  }

  /** At least one. Results that become known meanwhile wait for the next tick. */
  #deliver(isOverBudget: () => boolean): void {
    const known = this.#known;
    this.#known = [];
    for (let index = 0; index < known.length; index += 1) {
      const { result, deliver } = known[index] as Known;
      deliver(result);
      if (!isOverBudget()) continue;
      this.#known = [...known.slice(index + 1), ...this.#known];
      return;
    }
  }

  #onBundle({ bundle, state }: BundleEvent): void {
    if (bundle === this.#host.name) this.#isStopped = state === 'stopped' || state === 'failed';
    this.#link.forget(bundle);
    this.#sender.expectPlace();
    if (state === 'started') return;
    for (const call of this.#pending) {
      if (call.connector !== bundle || call.isKnown) continue;
      call.isKnown = true;
      this.#known.push({ result: lost(idOf(call), `${bundle} has stopped`), deliver: call.deliver });
    }
    this.#pending = this.#pending.filter(isPending);
  }
}

function isPending({ isKnown }: Call): boolean {
  return !isKnown;
}

function idOf(call: Call): string {
  return call.ticket?.Id ?? '';
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
