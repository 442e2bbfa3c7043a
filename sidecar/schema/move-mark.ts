import { ApiError } from '#protocol/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '#protocol/json.ts';
import type { Engine } from '../engine/engine.ts';
import type { CallBounds } from '../engine/rows.ts';

/**
 * Mark of `copy` and `import` in a database, for the sidecars that run on it. `leaving`: the namespace is being
 * copied and read-only until then (renewed while the copy runs). `arriving`: the namespace is not complete, and stays
 * closed until the command has finished, however often it is cut off.
 */
export type MoveMark =
  | {
      readonly kind: 'leaving';
      /** Epoch milliseconds. */
      readonly until: number;
    }
  | { readonly kind: 'arriving'; readonly by: 'copy' }
  | {
      readonly kind: 'arriving';
      readonly by: 'import';
      /** Tables that the command makes. All other tables of the namespace were there before. */
      readonly tables: readonly string[];
    };

export type MarkReader = { readonly transfer: Pick<Engine['transfer'], 'readMark'> };

/** Null if the namespace is open as usual. `now` in epoch milliseconds. */
export async function readMoveMark(
  engine: MarkReader,
  namespace: string,
  now: number,
  bounds: CallBounds,
): Promise<MoveMark | null> {
  const text = await engine.transfer.readMark(nameOf(namespace), bounds);
  const json = text === null ? null : parseJson(text);
  if (!isJsonObject(json)) return null;
  if (json.kind !== 'leaving') return arriving(json);
  const until = Number(json.until);
  return until > now ? { kind: 'leaving', until } : null;
}

function arriving({ by, tables }: JsonObject): MoveMark {
  if (by !== 'import') return { kind: 'arriving', by: 'copy' };
  return { kind: 'arriving', by, tables: Array.isArray(tables) ? tables.map(String) : [] };
}

export function writeMoveMark(
  engine: Pick<Engine, 'transfer'>,
  namespace: string,
  mark: MoveMark | null,
  bounds: CallBounds,
): Promise<void> {
  return engine.transfer.writeMark(nameOf(namespace), mark === null ? null : JSON.stringify(mark), bounds);
}

/** @throws ApiError `sync_in_progress` for a write where the namespace leaves, for anything where it arrives. */
export function checkMoveMark(namespace: string, mark: MoveMark | null, use: 'read' | 'write'): void {
  if (mark === null || (mark.kind === 'leaving' && use === 'read')) return;
  const reason =
    mark.kind === 'leaving'
      ? 'is being copied to another database and read-only until that has ended; try again'
      : `is not complete: the ${mark.by} into it has not finished; the owner runs that command again, or gives it up with copy --discard`;
  throw new ApiError('sync_in_progress', `namespace ${namespace} ${reason}`);
}

function nameOf(namespace: string): string {
  return `move:${namespace}`;
}
