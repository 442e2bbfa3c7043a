import type { AttemptLimit } from '../attempt-limit.ts';
import { PanelError } from '../panel-error.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { PasswordHasher } from './password-hasher.ts';

export interface PasswordCheckOptions {
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  /** The sign-in's: a stolen session must not be a way round it. */
  readonly limit: AttemptLimit;
}

/** Asks an account that has signed in for its password again, before it makes or removes a way in. */
export class PasswordCheck {
  readonly #options: PasswordCheckOptions;

  constructor(options: PasswordCheckOptions) {
    this.#options = options;
  }

  /**
   * A check counts when it begins, so that many at once do not pass the limit; a right password is taken off again.
   *
   * @param network source as the limits of the sign-in count it
   * @throws PanelError login.failed, rate.limited
   */
  async confirm(accountId: number, password: string, network: string): Promise<Account> {
    const { store, hasher, limit } = this.#options;
    const retryAfterSeconds = limit.blockedSeconds(network);
    if (retryAfterSeconds > 0) throw new PanelError('rate.limited', { retryAfterSeconds });
    limit.count(network);
    const verified = store.byId(accountId)?.password ?? null;
    const isRight = await hasher.verify(password, verified, `account ${accountId}`);
    const account = store.byId(accountId);
    // Disabled, removed, or with another password meanwhile.
    if (!isRight || account === null || !account.enabled || account.password !== verified) {
      throw new PanelError('login.failed', { field: 'password' });
    }
    limit.takeOff(network);
    return account;
  }
}
