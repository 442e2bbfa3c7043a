import type { Permission } from './permissions.ts';

/** One of `GET /api/users`. */
export interface AccountView {
  readonly username: string;
  readonly permissions: readonly Permission[];
  readonly enabled: boolean;
}

/** `GET /api/users/NAME/access` */
export interface AccountAccess {
  readonly account: AccountView;
  /** Names of pages. */
  readonly pages: readonly string[];
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/** One of `GET /api/audit`. */
export interface AuditEntry {
  readonly id: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  /** Empty where nobody was signed in. */
  readonly username: string;
  readonly action: string;
  readonly subject: string;
  readonly address: string;
  /** `ok`, or the key of the refusal. */
  readonly result: string;
}
