import type { Permission } from '../shapes/permissions.ts';
import { type Account, inOrder } from './account-store.ts';

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
