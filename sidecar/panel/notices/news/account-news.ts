import { networkOf } from '#sidecar/security/addresses.ts';
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

/** Tells news of accounts and their sign-ins, out of the audit log. */
export class AccountNews {
  readonly #options: AccountNewsOptions;

  constructor(options: AccountNewsOptions) {
    this.#options = options;
  }

  /** Call before the entry is written. */
  follow({ action, username, address, subject, result }: AuditNote): void {
    if (action === 'login') this.#followSignIn(username, address, result);
    else if (result === 'ok' && action.startsWith('users.')) this.#tellChange(action, username, subject);
  }

  #followSignIn(username: string, address: string, result: string): void {
    const { addressesOf, tell, now } = this.#options;
    const news = { facts: [username, address], data: { username, address } };
    if (result === 'rate.limited') tell({ event: 'signIn.limit', ...news });
    if (result !== 'ok') return;
    const known = addressesOf(username);
    const recent = known.filter(({ lastAt }) => lastAt >= now() - REMEMBERED_MS).map((one) => networkOf(one.address));
    // The first sign-in of an account says nothing.
    if (known.length > 0 && !recent.includes(networkOf(address))) tell({ event: 'signIn.newAddress', ...news });
  }

  #tellChange(action: string, by: string, subject: string): void {
    const [username = '', ...words] = subject.split(' ');
    const changes = action === 'users.save' ? words : [action];
    this.#options.tell({
      event: 'account.changed',
      facts: [username, by, ...changes],
      data: { username, by, changes },
    });
  }
}
