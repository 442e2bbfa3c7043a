import { PanelError } from '../panel-error.ts';
import { isPermission, type Permission } from '../shapes/permissions.ts';
import { type Account, inOrder } from './account-store.ts';

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

export interface PermissionsChange {
  readonly accountId: number;
  readonly permissions: readonly Permission[];
}

/** In words of the audit log: `(password)`, `(enabled)`, `(disabled)`, `+console.read`, `-server.stop`. */
export function describeAccountChange(before: Account, after: Account): string[] {
  return [
    ...(after.password === before.password ? [] : ['(password)']),
    ...(after.enabled === before.enabled ? [] : [after.enabled ? '(enabled)' : '(disabled)']),
    ...lacking(after, before).map((name) => `+${name}`),
    ...lacking(before, after).map((name) => `-${name}`),
  ];
}

/** Null where they are what they were. */
export function permissionsChange(before: Account, after: Account): PermissionsChange | null {
  const isSame = lacking(after, before).length + lacking(before, after).length === 0;
  return isSame ? null : { accountId: after.id, permissions: inOrder(after.permissions) };
}

/** What the one holds and the other does not. */
function lacking(holder: Account, other: Account): Permission[] {
  return inOrder(holder.permissions).filter((name) => !other.permissions.has(name));
}
