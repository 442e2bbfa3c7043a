import type { IncomingMessage } from 'node:http';
import type { AccountStore } from '../accounts/account-store.ts';
import type { Session, Sessions } from '../accounts/sessions.ts';
import { CSRF_COOKIE, isCookieSent, readCookie, SESSION_COOKIE } from './cookies.ts';
import type { Caller } from './route.ts';

/** Session of a request's cookies, as it is now. */
export interface SessionState {
  readonly caller: Caller | null;
  readonly session: Session | null;
  /** Empty without a session. */
  readonly token: string;
  /** A cookie was sent that belongs to no session, or to none any more. */
  readonly isStale: boolean;
  readonly csrfCookie: string;
}

/** Reads accounts and sessions again for each request: a right that was removed does not hold for the next one. */
export class SessionReader {
  readonly #accounts: Pick<AccountStore, 'byId'>;
  readonly #sessions: Pick<Sessions, 'find'>;

  constructor(accounts: Pick<AccountStore, 'byId'>, sessions: Pick<Sessions, 'find'>) {
    this.#accounts = accounts;
    this.#sessions = sessions;
  }

  read({ headers }: Pick<IncomingMessage, 'headers'>): SessionState {
    const csrfCookie = readCookie(headers.cookie, CSRF_COOKIE);
    const token = readCookie(headers.cookie, SESSION_COOKIE);
    const session = token === '' ? null : this.#sessions.find(token);
    const account = session === null ? null : this.#accounts.byId(session.accountId);
    if (session === null || account === null || !account.enabled) {
      const isStale = isCookieSent(headers.cookie, SESSION_COOKIE);
      return { caller: null, session: null, token: '', isStale, csrfCookie };
    }
    const { username, permissions } = account;
    const { id: sessionId, accountId, expiresAt } = session;
    const caller = { accountId, username, permissions, sessionId, token: null, expiresAt };
    return { caller, session, token, isStale: false, csrfCookie };
  }
}
