import { networkOf } from '#sidecar/security/addresses.ts';
import type { AccountChange } from '../../accounts/account-rules.ts';
import type { AuditNote, KnownAddress } from '../../audit/audit-log.ts';
import type { TellNews } from '../news.ts';

const REMEMBERED_MS = 90 * 86_400_000;

export interface AccountNewsOptions {
  /** Addresses from which the account signed in before. */
  readonly addressesOf: (username: string) => readonly KnownAddress[];
  readonly tell: TellNews;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Tells changes of accounts, and sign-ins that their owners should know of. */
export class AccountNews {
  readonly #options: AccountNewsOptions;

  constructor(options: AccountNewsOptions) {
    this.#options = options;
  }

  /** Call before the entry is written. */
  followSignIn({ username, address, result }: Pick<AuditNote, 'username' | 'address' | 'result'>): void {
    const { addressesOf, tell, now } = this.#options;
    const news = { facts: [username, address], data: { username, address } };
    if (result === 'rate.limited') tell({ event: 'signIn.limit', ...news });
    if (result !== 'ok') return;
    const known = addressesOf(username);
    const recent = known.filter(({ lastAt }) => lastAt >= now() - REMEMBERED_MS).map((one) => networkOf(one.address));
    // The first sign-in of an account says nothing.
    if (known.length > 0 && !recent.includes(networkOf(address))) tell({ event: 'signIn.newAddress', ...news });
  }

  tellChange({ username, by, changes }: AccountChange): void {
    this.#options.tell({
      event: 'account.changed',
      facts: [username, by, ...changes],
      data: { username, by, changes },
    });
  }
}
