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

/** An account must not grant a permission that it lacks, nor change an account that has it. @throws PanelError users.grant */
export function checkGrant(actor: Account, permissions: ReadonlySet<Permission>): void {
  const isHeld = [...permissions].every((name) => actor.permissions.has(name));
  if (!isHeld) throw new PanelError('users.grant', { field: 'permissions' });
}

/**
 * At least one account keeps the right to manage accounts.
 *
 * @param after null: the account is removed
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

/** Change, as the audit log and notices write it: `(password)`, `+console.read`, `-server.stop`. */
export type AccountChangeWord =
  | '(new)'
  | '(password)'
  | '(enabled)'
  | '(disabled)'
  | '(deleted)'
  | `${'+' | '-'}${Permission | 'secondFactor'}`;

/** Changes of an account that another one, or itself, has made. */
export interface AccountChange {
  readonly username: string;
  /** Name of the account that made the change. */
  readonly by: string;
  readonly changes: readonly AccountChangeWord[];
}

export function describeAccountChange(before: Account, after: Account): AccountChangeWord[] {
  return [
    ...(after.password === before.password ? [] : ['(password)' as const]),
    ...(after.enabled === before.enabled ? [] : [after.enabled ? ('(enabled)' as const) : ('(disabled)' as const)]),
    ...lacking(after, before).map((name) => `+${name}` as const),
    ...lacking(before, after).map((name) => `-${name}` as const),
  ];
}

/** null if unchanged. */
export function permissionsChange(before: Account, after: Account): PermissionsChange | null {
  const isSame = lacking(after, before).length + lacking(before, after).length === 0;
  return isSame ? null : { accountId: after.id, permissions: inOrder(after.permissions) };
}

/** Permissions that the holder has and the other lacks. */
function lacking(holder: Account, other: Account): Permission[] {
  return inOrder(holder.permissions).filter((name) => !other.permissions.has(name));
}
