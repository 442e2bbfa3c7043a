import { jsonText } from './json-text.ts';
import type { UpsertOptions } from './payloads.ts';
import { readErrorMessage, readNumber, readResults, withBody } from './readers.ts';
import { requests, type Send } from './request.ts';
import { type DbResult, errorResult } from './result.ts';
import type { Row } from './rows.ts';

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
