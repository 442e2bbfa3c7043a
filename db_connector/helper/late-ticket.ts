import type { DbTicket } from './result.ts';

/** The ticket of a call that goes out with the others of its turn: a look at it sends them, so that it says what became of the call. */
export class LateTicket implements DbTicket {
  readonly #send: () => DbTicket;
  #ticket: DbTicket | undefined;

  /** @param send sends the call; its ticket */
  constructor(send: () => DbTicket) {
    this.#send = send;
  }

  get Id(): string {
    return this.#known.Id;
  }

  get Accepted(): boolean {
    return this.#known.Accepted;
  }

  get Error(): string {
    return this.#known.Error;
  }

  toJSON(): DbTicket {
    return this.#known;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): DbTicket {
    return this.#known;
  }

  get #known(): DbTicket {
    this.#ticket ??= this.#send();
    return this.#ticket;
  }
}
