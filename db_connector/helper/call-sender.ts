import { type ConnectorLink, MAX_RECORDS } from './connector-link.ts';
import type { Turn } from './host.ts';
import { type DbTicket, refusedTicket, UNNAMED_TICKET } from './result.ts';
import { type Call, listOf, WaitingCalls } from './waiting-calls.ts';

/**
 * The first call at once; the others of the turn with the next microtask, so that none of them is late.
 *
 * @param before runs before the turn's end
 */
export function microtaskTurn(before: () => void): Turn {
  return {
    atOnce: 1,
    end: (run) =>
      queueMicrotask(() => {
        before();
        run();
      }),
  };
}

/** Sends the calls of one bundle in their order, those of a turn together; calls for which there is no place wait. */
export class CallSender {
  readonly #link: ConnectorLink;
  readonly #turn: Turn;
  readonly #settle: (call: Call) => void;
  readonly #waiting = new WaitingCalls();
  #gathered: Call[] = [];
  #callsOfTurn = 0;

  /** @param settle a call has its ticket, which is accepted or not */
  constructor(link: ConnectorLink, turn: Turn, settle: (call: Call) => void) {
    this.#link = link;
    this.#turn = turn;
    this.#settle = settle;
  }

  /** No call is waiting for a place. */
  get isEmpty(): boolean {
    return this.#waiting.isEmpty;
  }

  add(call: Call): void {
    this.#gathered.push(call);
    if (this.#callsOfTurn === 0) this.#turn.end(() => this.#endTurn());
    this.#callsOfTurn += 1;
    if (this.#callsOfTurn <= this.#turn.atOnce || this.#gathered.length === MAX_RECORDS) this.flush();
  }

  #endTurn(): void {
    this.#callsOfTurn = 0;
    this.flush();
  }

  /** Sends what was gathered. */
  flush(): void {
    const calls = this.#gathered;
    if (calls.length === 0) return;
    this.#gathered = [];
    for (let at = 0; at < calls.length; ) {
      const list = this.#waiting.isEmpty ? listOf(calls, at, MAX_RECORDS) : calls.slice(at);
      at += list.length;
      for (const call of this.#waiting.isEmpty ? this.#send(list) : list) this.#wait(call);
    }
  }

  /** In the order in which they came, as long as there are places. */
  sendWaiting(now: number, isOverBudget: () => boolean): void {
    while (this.#waiting.isDue(now) && !isOverBudget()) {
      const calls = this.#waiting.take(MAX_RECORDS);
      const busy = this.#send(calls);
      if (busy.length === 0) this.#waiting.calm();
      else this.#waiting.putBack(busy, busy.length < calls.length, now);
    }
  }

  expectPlace(): void {
    this.#waiting.expectPlace();
  }

  /** The calls for which there was no place. */
  #send(calls: readonly Call[]): Call[] {
    const busy: Call[] = [];
    const tickets = this.#link.send(calls[0]?.connector ?? '', calls);
    for (let index = 0; index < calls.length; index += 1) {
      const call = calls[index] as Call;
      const ticket = tickets[index] as DbTicket;
      if (isBusy(ticket)) busy.push(call);
      else this.#settleWith(call, ticket);
    }
    return busy;
  }

  #wait(call: Call): void {
    if (this.#waiting.add(call)) call.ticket = UNNAMED_TICKET;
    else this.#settleWith(call, refusedTicket('busy', `${this.#waiting.size} calls of this bundle wait already`));
  }

  #settleWith(call: Call, ticket: DbTicket): void {
    call.ticket = ticket;
    this.#settle(call);
  }
}

function isBusy({ Accepted, Error: refusal }: DbTicket): boolean {
  return !Accepted && refusal.startsWith('busy:');
}
