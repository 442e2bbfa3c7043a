import { scryptSync } from 'node:crypto';
import { AccountStore } from '#panel/accounts/account-store.ts';
import type { Permission } from '#panel/shapes/permissions.ts';
import type { PanelStore } from '#panel/store/panel-store.ts';

export const PASSWORD = 'correct horse battery staple';

/** A stored key names its cost, and a sign-in takes that cost: a third of a second less for each. */
const QUICK = { N: 2, r: 1, p: 1 };
const SALT = Buffer.alloc(16, 7);
const KEY = scryptSync(PASSWORD, SALT, 32, QUICK);
const STORED = ['scrypt', QUICK.N, QUICK.r, QUICK.p, SALT.toString('base64'), KEY.toString('base64')].join('$');

/** An account with `PASSWORD`, as the panel stores it, for tests that judge something else than passwords. */
export function insertAccount(store: PanelStore, username: string, permissions: readonly Permission[]): void {
  new AccountStore(store).insert({ username, password: STORED, permissions: new Set(permissions), enabled: true });
}
