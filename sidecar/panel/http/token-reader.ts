import type { AccountStore } from '../accounts/account-store.ts';
import { PanelError } from '../panel-error.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { type Caller, narrowed } from './route.ts';

/** Reads token and maker again for each request: a right that the maker has lost does not hold for the next one. */
export class TokenReader {
  readonly #accounts: Pick<AccountStore, 'byId'>;
  readonly #tokens: Pick<Tokens, 'use' | 'countCall'>;

  constructor(accounts: Pick<AccountStore, 'byId'>, tokens: Pick<Tokens, 'use' | 'countCall'>) {
    this.#accounts = accounts;
    this.#tokens = tokens;
  }

  /** @throws PanelError token.invalid, token.expired, token.address */
  read(secret: string, address: string): Caller {
    const { id, name, accountId, permissions, expiresAt } = this.#tokens.use(secret, address);
    const maker = this.#accounts.byId(accountId);
    if (maker === null || !maker.enabled) throw new PanelError('token.invalid');
    return {
      ...{ accountId, username: maker.username, sessionId: null },
      permissions: narrowed(maker.permissions, permissions),
      token: { id, name, permissions },
      expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
    };
  }

  /** @throws PanelError rate.limited */
  countCall(id: number, address: string): void {
    this.#tokens.countCall(id, address);
  }
}
