import { createHash, randomBytes } from 'node:crypto';

const TICKET_MS = 5 * 60_000;
const MOST_TRIES = 5;
/** The oldest are dropped: their users type the password again. */
const MOST_TICKETS = 1000;

/** A sign-in whose password was right, and that waits for a code. */
export interface WaitingSignIn {
  readonly accountId: number;
  /** The encoded password that was right. */
  readonly verified: string;
  readonly remember: boolean;
}

interface Ticket extends WaitingSignIn {
  /** Hash of the browser's CSRF cookie. */
  readonly browser: string;
  readonly endsAt: number;
  wrong: number;
}

/** Tickets between password and code: five minutes, five wrong codes, one browser, one sign-in. */
export class SignInTickets {
  readonly #monotonicNow: () => number;
  /** By the hash of the ticket. */
  readonly #tickets = new Map<string, Ticket>();

  constructor(monotonicNow: () => number) {
    this.#monotonicNow = monotonicNow;
  }

  open(waiting: WaitingSignIn, csrfCookie: string): string {
    const ticket = randomBytes(32).toString('base64url');
    const endsAt = this.#monotonicNow() + TICKET_MS;
    this.#tickets.set(hashOf(ticket), { ...waiting, browser: hashOf(csrfCookie), endsAt, wrong: 0 });
    for (const oldest of this.#tickets.keys()) {
      if (this.#tickets.size <= MOST_TICKETS) break;
      this.#tickets.delete(oldest);
    }
    return ticket;
  }

  /** Null for a ticket that is unknown, over, used, or of another browser. */
  find(ticket: string, csrfCookie: string): WaitingSignIn | null {
    const found = this.#tickets.get(hashOf(ticket));
    if (found === undefined || found.browser !== hashOf(csrfCookie)) return null;
    return found.endsAt > this.#monotonicNow() ? found : null;
  }

  /** The fifth wrong code ends the ticket. */
  countWrong(ticket: string): void {
    const found = this.#tickets.get(hashOf(ticket));
    if (found === undefined) return;
    found.wrong += 1;
    if (found.wrong >= MOST_TRIES) this.#tickets.delete(hashOf(ticket));
  }

  use(ticket: string): void {
    this.#tickets.delete(hashOf(ticket));
  }

  /** After a change of the factor: what waits was asked for the old one. */
  endOfAccount(accountId: number): void {
    for (const [hash, ticket] of this.#tickets) if (ticket.accountId === accountId) this.#tickets.delete(hash);
  }
}

/** The map is looked up by hashes, so that the time of a look-up tells nothing of a ticket. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
