import { jsonText } from './json-text.ts';
import { checkedWriteOptions, type UpsertOptions, type WriteOptions } from './payloads.ts';
import { readErrorMessage, readInsertedIds, readIsQueued, readNumber, readResults, withBody } from './readers.ts';
import { mistaken, requests, type Send } from './request.ts';
import { type DbResult, errorResult, type InsertAllResult } from './result.ts';
import { type Row, rowText } from './rows.ts';
import type { DbValue } from './typed-rows.ts';

/** Rows that the sidecar takes in one insert, unless its owner said otherwise. */
const MAX_ROWS = 1000;
/** A payload holds 1,000,000 characters; the rest is for the names and the key. */
const MAX_CHARS = 990_000;

interface Progress {
  done: number;
  readonly ids: DbValue[];
  queued: { readonly queued: true } | undefined;
}

/**
 * A list of any length, in as many inserts as it takes, one after the other. It ends with the first that fails, and tells how far
 * it came; with the same `idempotencyKey` the same list may be sent again, and what is there is not inserted twice.
 */
export async function insertAll(
  send: Send,
  namespace: string,
  table: string,
  rows: readonly Row[],
  given: WriteOptions | undefined,
): Promise<InsertAllResult> {
  let texts: string[];
  let options: WriteOptions;
  try {
    options = checkedWriteOptions(given);
    if (!Array.isArray(rows)) throw new TypeError('rows: expected a list');
    texts = rows.map((row, index) => rowText(row, `rows[${index}]`));
  } catch (mistake) {
    return { ...(await send(mistaken(`InsertAll ${namespace}.${table}`, mistake))), Done: 0, Failed: 0 };
  }
  const key = options.idempotencyKey ?? crypto.randomUUID();
  const progress: Progress = { done: 0, ids: [], queued: undefined };
  let maxRows = MAX_ROWS;
  while (progress.done < texts.length) {
    const count = partLength(texts, progress.done, maxRows);
    const part = texts.slice(progress.done, progress.done + count);
    const partOptions = { ...options, idempotencyKey: `${key}:${progress.done}-${progress.done + count}` };
    const result = await send(requests.Insert(namespace, table, `[${part.join(',')}]`, partOptions));
    if (result.Code === 'too_many_rows' && count > 1) maxRows = Math.ceil(count / 2);
    else if (result.State !== 'ok') return { ...result, Done: progress.done, Failed: count };
    else note(progress, result, count);
  }
  return finished(progress);
}

/** As many rows as one payload holds; a row that is too long by itself goes alone and is refused by its name. */
function partLength(texts: readonly string[], start: number, maxRows: number): number {
  let chars = 0;
  let count = 0;
  while (count < maxRows && start + count < texts.length) {
    chars += (texts[start + count]?.length ?? 0) + 1;
    if (chars > MAX_CHARS && count > 0) break;
    count += 1;
  }
  return count;
}

function note(progress: Progress, result: DbResult, count: number): void {
  progress.done += count;
  if (readIsQueued(result)) progress.queued = { queued: true };
  else for (const id of readInsertedIds(result)) progress.ids.push(id);
}

function finished({ done, ids, queued }: Progress): InsertAllResult {
  const body = queued ?? { inserted: done, ids };
  const result = { Id: '', State: 'ok', Status: 200, Code: '', Json: jsonText(body, 'result') } as const;
  return withBody({ ...result, Done: done, Failed: 0 }, body);
}

/**
 * A list of rows, upserted in one batch: all or none. A database without transactions refuses that before it writes
 * anything; there the rows are written one by one, and the result is an error if one of them failed.
 */
export async function upsertRows(
  send: Send,
  namespace: string,
  table: string,
  rows: readonly Row[],
  keys: readonly string[],
  options: UpsertOptions | undefined,
): Promise<DbResult> {
  // Both attempts share a key: a call that was refused as a whole is not remembered under it.
  const key = crypto.randomUUID();
  const all = await send(requests.UpsertRows(namespace, table, rows, keys, options, { key, atomic: true }));
  const isRefused = all.Code === 'unsupported_operation';
  return summed(
    isRefused ? await send(requests.UpsertRows(namespace, table, rows, keys, options, { key, atomic: false })) : all,
  );
}

/** The answer to the batch as that of one upsert: rows written in all, and `Results` by row. */
function summed(result: DbResult): DbResult {
  const results = readResults(result);
  if (results.length === 0) return result;
  const index = results.findIndex(({ State }) => State !== 'ok');
  const failed = results[index];
  if (failed !== undefined) return failureOf(failed, index, results);
  const affected = results.reduce((sum, one) => sum + readNumber(one), 0);
  const body = { affected, results: results.map(({ Json }) => JSON.parse(Json) as unknown) };
  return withBody({ ...result, Json: jsonText(body, 'result') }, body);
}

function failureOf(failed: DbResult, index: number, results: readonly DbResult[]): DbResult {
  const written = results.filter(({ State }) => State === 'ok').length;
  const reason = readErrorMessage(failed).slice(`${failed.Code}: `.length);
  const message = `rows[${index}]: ${reason} (${written} of ${results.length} rows are written)`;
  const json = jsonText({ error: { code: failed.Code, message, index } }, 'result');
  return { ...errorResult(failed.Code, message, failed.Id), Status: failed.Status, Json: json };
}
