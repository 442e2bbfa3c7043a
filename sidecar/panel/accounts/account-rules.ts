import { PanelError } from '../panel-error.ts';
import { isPermission, type Permission } from '../shapes/permissions.ts';
import type { Account } from './account-store.ts';

/** @throws PanelError users.permissions */
export function readPermissions(names: readonly string[]): ReadonlySet<Permission> {
  if (!names.every(isPermission)) throw new PanelError('users.permissions', { field: 'permissions' });
  return new Set(names);
}

export function isManager(account: Account): boolean {
  return account.enabled && account.permissions.has('users.manage');
}

/** Nobody grants what they lack, nor touches an account that holds it. @throws PanelError users.grant */
export function checkGrant(actor: Account, permissions: ReadonlySet<Permission>): void {
  const isHeld = [...permissions].every((name) => actor.permissions.has(name));
  if (!isHeld) throw new PanelError('users.grant', { field: 'permissions' });
}

/**
 * Somebody can always manage accounts.
 *
 * @param after null: it is removed
 * @throws PanelError users.lastManager
 */
export function checkManagers(all: () => readonly Account[], before: Account, after: Account | null): void {
  if (!isManager(before) || (after !== null && isManager(after))) return;
  const others = all().filter((account) => account.id !== before.id && isManager(account));
  if (others.length === 0) throw new PanelError('users.lastManager', { field: 'username' });
}
