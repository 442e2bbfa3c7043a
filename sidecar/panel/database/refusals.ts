import { StaleSchemaError } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { type ErrorDetails, PanelError } from '../panel-error.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';

/** Keys for statuses of the API's own table; everything else is a database that fails. */
const KEYS: Readonly<Record<number, ErrorKey>> = {
  400: 'database.request',
  404: 'database.unknown',
  409: 'database.refused',
  413: 'database.request',
};

/** The detail of a failing database is for its log; messages of refusals name columns and tables, never rows of others. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof StaleSchemaError) {
    return new PanelError('database.refused', { detail: 'the schema is being changed; try again' });
  }
  if (!(error instanceof ApiError)) return error;
  return new PanelError(KEYS[error.status] ?? 'database.failed', detailsOf(error.message));
}

/** Messages of the API begin with the path of what is wrong: `filter.op: …`, `set.money: …`. */
const PLACE = /^(?:(filter)[^:]*|set\.(\w+)): /;

/** A column is named as the page shows it, without its path. */
function detailsOf(message: string): ErrorDetails {
  const [all = '', filter, column] = PLACE.exec(message) ?? [];
  if (filter !== undefined) return { field: filter, detail: message };
  return column === undefined
    ? { detail: message }
    : { field: column, detail: `${column}: ${plainReason(message.slice(all.length))}` };
}

/** `expected at most 2 digits, got more` of the API; a person reads what to write. */
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
