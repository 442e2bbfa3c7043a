import type { Permission } from './permissions.ts';

/** Token of `GET /api/tokens`; its secret is shown once, when it is made. */
export interface TokenView {
  readonly id: number;
  readonly name: string;
  /** Account that has made it. */
  readonly username: string;
  /** As listed; the maker's own permissions narrow them at each call. */
  readonly permissions: readonly Permission[];
  /** CIDR ranges; empty: any address. */
  readonly addresses: readonly string[];
  /** Times are ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly lastAddress: string | null;
}

/** Permissions that no token has: with them a program could change who may do what, or run any program. */
export const NO_TOKEN_PERMISSIONS: readonly Permission[] = ['settings.write', 'users.manage'];
/** Bound per account. */
export const MOST_TOKENS = 50;
export const MOST_TOKEN_ADDRESSES = 20;
export const MAX_TOKEN_NAME_CHARS = 64;
/** Life of a token if no end is given. */
export const DEFAULT_TOKEN_DAYS = 365;
