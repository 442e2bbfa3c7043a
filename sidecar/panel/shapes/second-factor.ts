/** Kinds of codes and factors that a sign-in may go on with. */
export type FactorKind = 'totp' | 'recovery';

/** `secondFactor` of `GET /api/session`. `required`: the account has to set one before anything else. */
export type FactorState = 'none' | 'required' | 'set';

/** `GET /api/second-factor` */
export interface FactorView {
  readonly totp: boolean;
  /** Recovery codes that are left. */
  readonly recoveryCodes: number;
  /** Always empty in this version. */
  readonly passkeys: readonly never[];
  /** A permission of the account asks for a factor. */
  readonly required: boolean;
  readonly passkeysPossible: false;
}

/** Answer of `POST /api/second-factor/totp/begin` */
export interface TotpOffer {
  /** Base32. */
  readonly secret: string;
  /** `otpauth://totp/…` */
  readonly uri: string;
  /** SVG without script. */
  readonly qr: string;
}

export const RECOVERY_CODES = 10;
