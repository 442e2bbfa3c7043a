import type { Account } from '../accounts/account-store.ts';
import type { SignInFactor } from '../accounts/login.ts';
import { AttemptLimit } from '../attempt-limit.ts';
import { PanelError } from '../panel-error.ts';
import type { SecretBox } from '../secret-box.ts';
import type { FactorKind, TotpOffer } from '../shapes/second-factor.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { FactorStore } from './factor-store.ts';
import { qrSvg } from './qr-svg.ts';
import { newRecoveryCodes, readRecoveryCode } from './recovery-codes.ts';
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts';

/** Wrong codes of an account in 15 minutes. */
const MOST_WRONG = 10;
const OFFER_MS = 10 * 60_000;

/** An account has got its factor, or lost it. */
export interface FactorChange {
  readonly accountId: number;
  readonly isSet: boolean;
  /** Account that made the change. */
  readonly byId: number;
}

export interface SecondFactorsOptions {
  readonly store: PanelStore;
  readonly box: SecretBox;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** Name of the panel, for the list of an authenticator. */
  readonly issuer: () => string;
}

/**
 * Second factors of accounts: codes of an authenticator, and recovery codes for a lost one. A code is good once, on the disk:
 * a restart or a second sign-in at the same moment does not make it good again.
 */
export class SecondFactors implements SignInFactor {
  readonly #rows: FactorStore;
  readonly #options: SecondFactorsOptions;
  readonly #wrong: AttemptLimit;
  /** Secrets that were offered and not confirmed yet, by account. */
  readonly #offers = new Map<number, { readonly secret: string; readonly endsAt: number }>();
  readonly #listeners = new Set<(change: FactorChange) => void>();

  constructor(options: SecondFactorsOptions) {
    this.#rows = new FactorStore(options.store);
    this.#options = options;
    this.#wrong = new AttemptLimit(MOST_WRONG, options.monotonicNow);
  }

  isSet(accountId: number): boolean {
    return this.#rows.find(accountId) !== null;
  }

  /** Accounts that have one. */
  accountIds(): ReadonlySet<number> {
    return this.#rows.accountIds();
  }

  recoveryCodesLeft(accountId: number): number {
    return this.#rows.countCodes(accountId);
  }

  kindsOf(accountId: number): readonly FactorKind[] {
    if (!this.isSet(accountId)) return [];
    return this.#rows.countCodes(accountId) > 0 ? ['totp', 'recovery'] : ['totp'];
  }

  /** A new secret, which `confirm` puts into place within ten minutes. @throws PanelError secondFactor.set */
  begin({ id, username }: Pick<Account, 'id' | 'username'>): TotpOffer {
    if (this.isSet(id)) throw new PanelError('secondFactor.set');
    const secret = newTotpSecret();
    const uri = totpUri(secret, this.#options.issuer(), username);
    this.#offers.set(id, { secret, endsAt: this.#options.monotonicNow() + OFFER_MS });
    return { secret, uri, qr: qrSvg(uri) };
  }

  /** Returns recovery codes, which are shown once. @throws PanelError */
  confirm(accountId: number, code: string): readonly string[] {
    const { box, now, monotonicNow } = this.#options;
    const offer = this.#offers.get(accountId);
    if (offer === undefined || offer.endsAt <= monotonicNow()) throw new PanelError('secondFactor.begin');
    const codes = this.#attempt(accountId, () => {
      const step = stepOfCode(offer.secret, bare(code), now());
      if (step === null) return null;
      if (this.isSet(accountId)) throw new PanelError('secondFactor.set');
      this.#rows.insert(accountId, box.seal(offer.secret, placeOf(accountId)), step, now());
      return this.#makeCodes(accountId);
    });
    this.#changed({ accountId, isSet: true, byId: accountId });
    return codes;
  }

  /** @throws PanelError */
  remove(accountId: number, code: string): void {
    this.#attempt(accountId, () => (this.#isGood(accountId, code) ? this.#rows.remove(accountId) : null));
    this.#changed({ accountId, isSet: false, byId: accountId });
  }

  /** New recovery codes; the old ones end. @throws PanelError */
  renewCodes(accountId: number, code: string): readonly string[] {
    return this.#attempt(accountId, () => (this.#isGood(accountId, code) ? this.#makeCodes(accountId) : null));
  }

  /** Uses a code up. @throws PanelError secondFactor.code, rate.limited */
  accept(accountId: number, code: string): void {
    this.#attempt(accountId, () => (this.#isGood(accountId, code) ? true : null));
  }

  /** Without a code, for a manager of accounts. */
  reset(accountId: number, byId: number): void {
    this.#offers.delete(accountId);
    if (this.#rows.remove(accountId)) this.#changed({ accountId, isSet: false, byId });
  }

  /** Called after each change that is on the disk. */
  onChanged(listener: (change: FactorChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Right codes are refused too once the limit is reached; `work` returns null for a wrong one. */
  #attempt<Result>(accountId: number, work: () => Result | null): Result {
    const source = String(accountId);
    const retryAfterSeconds = this.#wrong.blockedSeconds(source);
    if (retryAfterSeconds > 0) throw new PanelError('rate.limited', { retryAfterSeconds });
    const result = this.#rows.atomically(work);
    if (result !== null) return result;
    this.#wrong.count(source);
    throw new PanelError('secondFactor.code', { field: 'code' });
  }

  /** Uses the code up if it is good. @throws PanelError secondFactor.missing */
  #isGood(accountId: number, typed: string): boolean {
    const row = this.#rows.find(accountId);
    if (row === null) throw new PanelError('secondFactor.missing');
    const recovery = readRecoveryCode(typed);
    if (recovery !== null) return this.#rows.takeCode(accountId, this.#hashOf(accountId, recovery));
    const secret = this.#options.box.open(row.secret, placeOf(accountId));
    // Another key: a recovery from a copy without it. Recovery codes do not fit either; a manager resets the factor.
    const step = secret === null ? null : stepOfCode(secret, bare(typed), this.#options.now());
    return step !== null && this.#rows.takeStep(accountId, step);
  }

  #makeCodes(accountId: number): readonly string[] {
    const codes = newRecoveryCodes();
    this.#rows.replaceCodes(
      accountId,
      codes.map((code) => this.#hashOf(accountId, readRecoveryCode(code) ?? '')),
    );
    return codes;
  }

  /** Keyed: 50 bits of a plain hash could be found by trying. */
  #hashOf(accountId: number, code: string): Buffer {
    return this.#options.box.digest(code, ['recovery code', String(accountId)]);
  }

  #changed(change: FactorChange): void {
    this.#offers.delete(change.accountId);
    for (const listener of this.#listeners) listener(change);
  }
}

function bare(typed: string): string {
  return typed.replaceAll(/\s/g, '');
}

function placeOf(accountId: number): readonly string[] {
  return ['second factor', String(accountId)];
}
