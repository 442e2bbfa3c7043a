import { mayCall } from '../http/route.ts';
import type { Permission } from '../shapes/permissions.ts';
import type { JobKind } from './job-kind.ts';

export type AnyKind = JobKind<unknown>;

/** Whether these rights are enough to start the job and to let it go on. */
export function isAllowed(kind: AnyKind, input: unknown, permissions: ReadonlySet<Permission>): boolean {
  const extra = kind.needs?.(input) ?? [];
  return mayCall(kind.access, permissions) && extra.every((name) => permissions.has(name));
}

/** Whether these rights are enough to see the job. */
export function mayRead(kind: AnyKind | undefined, permissions: ReadonlySet<Permission>): boolean {
  return kind !== undefined && mayCall(kind.access, permissions);
}
