import type { Permission } from './permissions.ts';

/** Account of `GET /api/users`. */
export interface AccountView {
  readonly username: string;
  readonly permissions: readonly Permission[];
  readonly enabled: boolean;
  /** It has a second factor. */
  readonly secondFactor: boolean;
}

/** `GET /api/users/NAME/access` */
export interface AccountAccess {
  readonly account: AccountView;
  /** Names of pages. */
  readonly pages: readonly string[];
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/** A value that an action replaced; both are JSON text, cut at `MAX_AUDIT_VALUE_CHARS`. */
export interface AuditChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export const MAX_AUDIT_VALUE_CHARS = 100;

/** `GET /api/audit?username=…&cursor=…&limit=…`; an empty username is for what was done without a session. */
export interface AuditAnswer {
  readonly entries: readonly AuditEntry[];
  readonly cursor: string | null;
  readonly more: boolean;
  /** All that the log has entries of, for the filter; only with the newest entries. */
  readonly usernames?: readonly string[];
}

/** Entry of `GET /api/audit`. */
export interface AuditEntry {
  readonly id: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  /** Empty if the request had no session. */
  readonly username: string;
  /** Name of the account's token that the request came with; empty for a browser. */
  readonly token: string;
  readonly action: string;
  readonly subject: string;
  readonly address: string;
  /** `ok`, or the key of the refusal. */
  readonly result: string;
  /** Empty for actions without values; those of rows are only for accounts that may read the database. */
  readonly changes: readonly AuditChange[];
}

/** Rule of a user name, in lower case. */
export const USERNAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;
/** Characters of a password, after NFC. */
export const PASSWORD_CHARS = { min: 12, max: 256 } as const;
/** Characters of the panel's name. */
export const MAX_NAME_CHARS = 64;
