import { StaleSchemaError } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { type ErrorDetails, PanelError } from '../panel-error.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';

/** Keys for statuses of the API's error table; any other status is a failing database. */
const KEYS: Readonly<Record<number, ErrorKey>> = {
  400: 'database.request',
  404: 'database.unknown',
  409: 'database.refused',
  413: 'database.request',
};

/** Details of a failing database are only logged; messages of refusals name columns and tables, never rows. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof StaleSchemaError) {
    return new PanelError('database.refused', { detail: 'the schema is being changed; try again' });
  }
  if (!(error instanceof ApiError)) return error;
  return new PanelError(KEYS[error.status] ?? 'database.failed', detailsOf(error.message));
}

/** Messages of the API begin with the path of the fault: `filter.op: …`, `set.money: …`. */
const PLACE = /^(?:(filter)[^:]*|set\.(\w+)): /;

/** Names a column as the page shows it, without its path. */
function detailsOf(message: string): ErrorDetails {
  const [all = '', filter, column] = PLACE.exec(message) ?? [];
  if (filter !== undefined) return { field: filter, detail: message };
  return column === undefined
    ? { detail: message }
    : { field: column, detail: `${column}: ${plainReason(message.slice(all.length))}` };
}

/** From the API's `expected at most 2 digits, got more` to a text that says what to enter. */
function plainReason(reason: string): string {
  const [, wanted] = /^expected (.+?)(?:, got [^,]*)?$/.exec(reason) ?? [];
  return wanted === undefined ? reason : `use ${wanted}.`;
}

/** Runs work on the database; its failures are refusals of the panel. */
export async function onDatabase<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asRefusal(error);
  }
}
