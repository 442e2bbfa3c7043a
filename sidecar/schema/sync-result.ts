import { ApiError } from '#protocol/errors.ts';
import type { PlanEntry } from './plan-entry.ts';
import type { Declared, SyncRequest } from './sync-request.ts';

export interface SyncResult {
  readonly namespace: string;
  /** Of what the part declares. */
  readonly hash: string;
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly status: 'unchanged' | 'planned' | 'applied' | 'denied';
  readonly plan: readonly PlanEntry[];
  /** Unknown properties of the declaration, which were ignored; absent where there are none. */
  readonly warnings?: readonly string[];
}

export function resultOf(
  { namespace, dryRun }: SyncRequest,
  { hash, warnings }: Declared,
  status: SyncResult['status'],
  plan: readonly PlanEntry[],
): SyncResult {
  const result = { namespace, hash, changed: status !== 'unchanged', dryRun, status, plan };
  return warnings.length === 0 ? result : { ...result, warnings };
}

export function deniedText(entries: readonly PlanEntry[]): string {
  const names = entries
    .filter((entry) => entry.destructive)
    .map(({ kind, table, column }) => `${kind} ${column === undefined ? table : `${table}.${column}`}`);
  return `the server denies changes that remove or narrow: ${names.join(', ')}`;
}

export function inProgress(namespace: string): ApiError {
  return new ApiError('sync_in_progress', `a schema sync of namespace ${namespace} is running; try again`);
}
