import { ApiError } from './errors.ts';
import { nearestName } from './nearest-name.ts';

/** A name comes from the caller and may be of any length. */
const MAX_SHOWN_CHARS = 64;
const MAX_PATH_CHARS = 100;

/** `unknown_column` that names the column and the nearest existing one. `path` is the place in the payload. */
export function unknownColumn(path: string, name: string, columns: Iterable<string>): ApiError {
  const shown = path.slice(0, MAX_PATH_CHARS);
  return new ApiError('unknown_column', `${shown}: unknown column ${shownName(name)}${hint(name, columns)}`);
}

/** `unknown_table` that names the table and the nearest declared one. */
export function unknownTable(namespace: string, name: string, tables: Iterable<string>): ApiError {
  const shown = `unknown table ${shownName(name)} in namespace ${namespace}`;
  return new ApiError('unknown_table', `${shown}${hint(name, tables)}`);
}

function shownName(name: string): string {
  return JSON.stringify(name.length > MAX_SHOWN_CHARS ? `${name.slice(0, MAX_SHOWN_CHARS)}…` : name);
}

function hint(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === null ? '' : `: did you mean "${nearest}"?`;
}
