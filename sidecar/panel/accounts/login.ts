import type { AttemptLimit } from '../attempt-limit.ts';
import { PanelError } from '../panel-error.ts';
import type { AccountStore } from './account-store.ts';
import type { PasswordHasher } from './password-hasher.ts';
import type { Session, Sessions } from './sessions.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly remember: boolean;
}

/** Attempt to sign in. `username` is set only if an account has the name: people type passwords into that field. */
export interface LoginAttempt {
  readonly username: string;
  readonly address: string;
  readonly result: 'ok' | 'login.failed' | 'rate.limited';
}

export interface LoginOptions {
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  readonly sessions: Sessions;
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

export class Login {
  readonly #options: LoginOptions;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /** A new session, which ends `replaced`. @throws PanelError */
  async signIn(
    credentials: Credentials,
    { address, network }: LoginSource,
    replaced: Session | null,
  ): Promise<{ readonly token: string; readonly maxAgeSeconds: number }> {
    const { store, hasher, limit, onAttempt } = this.#options;
    const username = credentials.username.toLowerCase();
    const account = store.byName(username);
    const tell = (result: LoginAttempt['result']) => onAttempt({ username: account?.username ?? '', address, result });
    const retryAfterSeconds = limit.blockedSeconds(network);
    if (retryAfterSeconds > 0) {
      tell('rate.limited');
      throw new PanelError('rate.limited', { retryAfterSeconds });
    }
    limit.count(network);
    const isRight = await hasher.verify(credentials.password, account?.password ?? null, network);
    const opened = isRight && account !== null ? this.#open(account.id, account.password, credentials, replaced) : null;
    tell(opened === null ? 'login.failed' : 'ok');
    if (opened === null) throw new PanelError('login.failed');
    return opened;
  }

  /** null if the account was disabled, removed, or got another password meanwhile. */
  #open(accountId: number, verified: string, { remember }: Credentials, replaced: Session | null) {
    const { store, sessions } = this.#options;
    return store.atomically(() => {
      const account = store.byId(accountId);
      if (account === null || !account.enabled || account.password !== verified) return null;
      if (replaced !== null) sessions.end(replaced.id, 'logout');
      return sessions.open(account.id, remember);
    });
  }
}
