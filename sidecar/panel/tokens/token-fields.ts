import { isRange } from '#sidecar/security/addresses.ts';
import { PanelError } from '../panel-error.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import { isPermission, type Permission } from '../shapes/permissions.ts';
import {
  DEFAULT_TOKEN_DAYS,
  MAX_TOKEN_NAME_CHARS,
  MOST_TOKEN_ADDRESSES,
  NO_TOKEN_PERMISSIONS,
} from '../shapes/tokens.ts';
import { shownName } from '../typed-text.ts';

/** Body of `POST /api/tokens/create`, as it was sent. */
export interface TokenDraft {
  readonly name?: unknown;
  readonly permissions?: unknown;
  readonly addresses?: unknown;
  readonly expiresAt?: unknown;
}

export interface TokenFields {
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  readonly addresses: readonly string[];
  /** Epoch milliseconds; null: it has no end. */
  readonly expiresAt: number | null;
}

const DAY_MS = 86_400_000;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** @throws PanelError `tokens.<field>` for the first field at fault */
export function readTokenFields(draft: TokenDraft, now: number): TokenFields {
  return {
    name: readName(draft.name),
    permissions: readPermissions(draft.permissions),
    addresses: readAddresses(draft.addresses ?? []),
    expiresAt: readExpiry(draft.expiresAt, now),
  };
}

function readName(given: unknown): string {
  const name = shownName(given, MAX_TOKEN_NAME_CHARS);
  if (name === null) refuse('name', 'expected 1 to 64 visible characters');
  return name;
}

function readPermissions(given: unknown): ReadonlySet<Permission> {
  const isList = Array.isArray(given) && given.length > 0 && given.every(isPermission);
  if (!isList) refuse('permissions', 'expected at least one known permission');
  const names = new Set(given as Permission[]);
  const never = NO_TOKEN_PERMISSIONS.find((name) => names.has(name));
  if (never !== undefined) refuse('permissions', `no token may have ${never}`);
  return names;
}

function readAddresses(given: unknown): readonly string[] {
  const isList = Array.isArray(given) && given.length <= MOST_TOKEN_ADDRESSES;
  const isRead = isList && given.every((entry) => typeof entry === 'string' && entry.length <= 64 && isRange(entry));
  if (!isRead) refuse('addresses', `expected at most ${MOST_TOKEN_ADDRESSES} addresses or CIDR ranges`);
  return [...new Set(given as string[])];
}

function readExpiry(given: unknown, now: number): number | null {
  if (given === null) return null;
  if (given === undefined) return now + DEFAULT_TOKEN_DAYS * DAY_MS;
  const at = typeof given === 'string' && MOMENT.test(given) ? Date.parse(given) : Number.NaN;
  if (!(at > now)) refuse('expiresAt', 'expected a time in the future, such as 2031-03-30T05:00:00Z, or null');
  return at;
}

function refuse(field: 'name' | 'permissions' | 'addresses' | 'expiresAt', detail: string): never {
  throw new PanelError(`tokens.${field}` satisfies ErrorKey, { field, detail });
}
