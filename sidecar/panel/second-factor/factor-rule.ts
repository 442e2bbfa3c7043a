import type { AccountStore } from '../accounts/account-store.ts';
import type { Permission } from '../shapes/permissions.ts';
import type { FactorState } from '../shapes/second-factor.ts';
import type { SecondFactors } from './second-factors.ts';

export interface FactorRuleOptions {
  readonly accounts: Pick<AccountStore, 'byId'>;
  readonly factors: Pick<SecondFactors, 'isSet'>;
  readonly settings: { readonly values: { readonly secondFactorFor: readonly Permission[] } };
}

/** Which accounts have to set a second factor before anything else. */
export class FactorRule {
  readonly #options: FactorRuleOptions;

  constructor(options: FactorRuleOptions) {
    this.#options = options;
  }

  /** A permission of the account asks for a factor, whether it has one or not. */
  isAsked(accountId: number): boolean {
    const { secondFactorFor: needed } = this.#options.settings.values;
    if (needed.length === 0) return false;
    const held = this.#options.accounts.byId(accountId)?.permissions;
    return held !== undefined && needed.some((name) => held.has(name));
  }

  /** The account may do nothing else before it has set one. */
  isLacking(accountId: number): boolean {
    return this.isAsked(accountId) && !this.#options.factors.isSet(accountId);
  }

  stateOf(accountId: number): FactorState {
    if (this.#options.factors.isSet(accountId)) return 'set';
    return this.isAsked(accountId) ? 'required' : 'none';
  }
}
