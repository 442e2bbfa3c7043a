import type { AttemptLimit } from '../attempt-limit.ts';
import { PanelError } from '../panel-error.ts';
import type { FactorKind } from '../shapes/second-factor.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { PasswordHasher } from './password-hasher.ts';
import type { Session, Sessions } from './sessions.ts';
import type { SignInTickets, WaitingSignIn } from './sign-in-tickets.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly remember: boolean;
}

/** Attempt to sign in. `username` is set only if an account has the name: people type passwords into that field. */
export interface LoginAttempt {
  readonly username: string;
  readonly address: string;
  readonly result:
    | ('ok' | 'login.failed' | 'login.secondFactor' | 'rate.limited')
    | ('secondFactor.code' | 'secondFactor.ticket');
}

/** Second factors, as a sign-in needs them. */
export interface SignInFactor {
  /** Empty for an account without one. */
  kindsOf(accountId: number): readonly FactorKind[];
  /** Uses a code up. @throws PanelError secondFactor.code, rate.limited */
  accept(accountId: number, code: string): void;
}

export interface LoginOptions {
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  readonly sessions: Sessions;
  readonly factor: SignInFactor;
  readonly tickets: SignInTickets;
  /**
   * Limit per address. The limit per address and account has the same values, so the limit of the address is always reached
   * first. A limit per account alone would let strangers lock the account.
   */
  readonly limit: AttemptLimit;
  readonly onAttempt: (attempt: LoginAttempt) => void;
}

/** Source of a sign-in: the address as shown, and the network that the limits count. */
export interface LoginSource {
  readonly address: string;
  readonly network: string;
}

/** Browser that signs in. */
export interface SigningBrowser {
  /** Its session, which a new one ends. */
  readonly replaced: Session | null;
  readonly csrfCookie: string;
}

export interface OpenedSession {
  readonly token: string;
  readonly maxAgeSeconds: number;
}

export class Login {
  readonly #options: LoginOptions;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /** A new session. @throws PanelError `login.secondFactor` with a ticket if the account has a second factor */
  async signIn(credentials: Credentials, source: LoginSource, browser: SigningBrowser): Promise<OpenedSession> {
    const { store, hasher, limit, onAttempt } = this.#options;
    const { address, network } = source;
    const account = store.byName(credentials.username.toLowerCase());
    const tell = (result: LoginAttempt['result']) => onAttempt({ username: account?.username ?? '', address, result });
    const retryAfterSeconds = limit.blockedSeconds(network);
    if (retryAfterSeconds > 0) {
      tell('rate.limited');
      throw new PanelError('rate.limited', { retryAfterSeconds });
    }
    limit.count(network);
    const isRight = await hasher.verify(credentials.password, account?.password ?? null, network);
    if (!isRight || account === null) {
      tell('login.failed');
      throw new PanelError('login.failed');
    }
    const waiting = { accountId: account.id, verified: account.password, remember: credentials.remember };
    return this.#goOn(waiting, browser, tell);
  }

  /** The second step. The code is used up, and so is the ticket. @throws PanelError */
  finish(
    { ticket, code }: { readonly ticket: string; readonly code: string },
    { address }: Pick<LoginSource, 'address'>,
    { replaced, csrfCookie }: SigningBrowser,
  ): OpenedSession {
    const { store, factor, tickets, onAttempt } = this.#options;
    const waiting = tickets.find(ticket, csrfCookie);
    const account = waiting === null ? null : this.#stillGood(waiting);
    const username = account?.username ?? '';
    const refuse = (result: 'secondFactor.code' | 'secondFactor.ticket' | 'rate.limited', error: unknown): never => {
      onAttempt({ username, address, result });
      throw error;
    };
    if (waiting === null || account === null || factor.kindsOf(account.id).length === 0) {
      return refuse('secondFactor.ticket', new PanelError('secondFactor.ticket'));
    }
    try {
      factor.accept(account.id, code);
    } catch (error) {
      if (!(error instanceof PanelError)) throw error;
      if (error.key === 'rate.limited') return refuse('rate.limited', error);
      tickets.countWrong(ticket);
      return refuse('secondFactor.code', error);
    }
    tickets.use(ticket);
    const opened = store.atomically(() => this.#open(waiting, replaced));
    onAttempt({ username, address, result: 'ok' });
    return opened;
  }

  /** A session, or a ticket for the account that has a second factor. */
  #goOn(waiting: WaitingSignIn, browser: SigningBrowser, tell: (result: LoginAttempt['result']) => void) {
    const { store, factor, tickets } = this.#options;
    const opened = store.atomically(() => {
      if (this.#stillGood(waiting) === null) return null;
      const kinds = factor.kindsOf(waiting.accountId);
      return kinds.length > 0 ? { kinds } : this.#open(waiting, browser.replaced);
    });
    if (opened !== null && 'token' in opened) {
      tell('ok');
      return opened;
    }
    const key = opened === null ? 'login.failed' : 'login.secondFactor';
    tell(key);
    if (opened === null) throw new PanelError('login.failed');
    throw new PanelError(key, { ticket: tickets.open(waiting, browser.csrfCookie), kinds: opened.kinds });
  }

  #open({ accountId, remember }: WaitingSignIn, replaced: Session | null): OpenedSession {
    const { sessions } = this.#options;
    if (replaced !== null) sessions.end(replaced.id, 'logout');
    return sessions.open(accountId, remember);
  }

  /** null if the account was disabled, removed, or got another password meanwhile. */
  #stillGood({ accountId, verified }: WaitingSignIn): Account | null {
    const account = this.#options.store.byId(accountId);
    return account?.enabled === true && account.password === verified ? account : null;
  }
}
