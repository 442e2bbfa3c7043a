import type { Permission } from '../shapes/permissions.ts';
import type { Access } from './route.ts';

/** What the guards ask, and those who tell what an account can reach. */
export function mayCall(access: Access, permissions: ReadonlySet<Permission>): boolean {
  switch (access.kind) {
    case 'public':
    case 'authenticated':
      return true;
    case 'all':
      return access.permissions.every((name) => permissions.has(name));
    case 'any':
      return access.permissions.some((name) => permissions.has(name));
    default:
      return access satisfies never;
  }
}
