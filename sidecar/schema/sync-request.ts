import { ApiError } from '#protocol/errors.ts';
import type { JsonObject } from '#protocol/json-value.ts';
import { type DeclaredSchema, hasFilling, MAIN_PART, schemaHash } from '#protocol/schema.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { declarePart } from './declare-part.ts';
import { declarationOf } from './parts.ts';
import type { PlanEntry } from './plan-entry.ts';

export interface SyncRequest {
  readonly namespace: string;
  /** `MAIN_PART` for `schema.sync`. */
  readonly part: string;
  readonly schema: JsonObject;
  readonly dryRun: boolean;
  /** Until when it may wait for others, `performance.now()` milliseconds. */
  readonly deadline: number;
}

/** A declared schema with its hash. */
export interface Declared extends DeclaredSchema {
  readonly hash: string;
}

/** Whether the part has been declared so already; one that is given up was never there. */
export function isCurrent(stored: StoredSchema | null, request: SyncRequest, { schema, hash }: Declared): boolean {
  if (stored === null) return request.part !== MAIN_PART && schema.tables.length === 0;
  if (stored.isUnfinished === true || hasFilling(declarationOf(stored.schema, request.part) ?? schema)) return false;
  return partHash(stored, request) === hash;
}

export function partHash(stored: StoredSchema, { part }: SyncRequest): string {
  return schemaHash(declarationOf(stored.schema, part) ?? { tables: [] });
}

/** Before the lock is taken, so that a part that waits is in nobody's way, in another sidecar either. */
export function checkLacking(stored: StoredSchema | null, { part }: SyncRequest, declared: Declared): void {
  try {
    declarePart(stored?.schema ?? null, part, declared);
  } catch (error) {
    if (isPassing(error)) throw error;
  }
}

/** Errors that may pass: a change runs elsewhere, or the table or column that a part extends is not declared yet. */
export function isPassing(error: unknown): boolean {
  const codes: readonly string[] = ['sync_in_progress', 'unknown_table', 'unknown_column'];
  return error instanceof ApiError && codes.includes(error.code);
}

export interface SyncResult {
  readonly namespace: string;
  /** Hash of the part's declaration. */
  readonly hash: string;
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly status: 'unchanged' | 'planned' | 'applied' | 'denied';
  readonly plan: readonly PlanEntry[];
  /** Unknown properties of the declaration, which were ignored; absent if there are none. */
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
