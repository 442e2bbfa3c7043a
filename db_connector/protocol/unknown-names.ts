import { ApiError } from './errors.ts';

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

/** A name of a caller, quoted and cut. */
export function shownName(name: string): string {
  return JSON.stringify(name.length > MAX_SHOWN_CHARS ? `${name.slice(0, MAX_SHOWN_CHARS)}…` : name);
}

function hint(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === null ? '' : `: did you mean "${nearest}"?`;
}

/** Longest name that is compared; longer names have no nearest name. */
const MAX_NAME_LENGTH = 64;

/** Most candidates that are compared, in the order of the list. */
const MAX_CANDIDATES = 1_000;

/**
 * The candidate that a mistyped name most likely means, or null if none is close enough. Case does not count. Insertion,
 * deletion and replacement of a character and the exchange of two neighbours are one fault each. Of equally close
 * candidates the first is returned. The work is bounded for every input.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  if (name.length > MAX_NAME_LENGTH) return null;
  const wanted = name.toLowerCase();
  let nearest: string | null = null;
  let fewest = mostFaults(wanted.length) + 1;
  let compared = 0;
  for (const candidate of candidates) {
    if (++compared > MAX_CANDIDATES || fewest === 0) break;
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const faults = countFaults(wanted, candidate.toLowerCase());
    if (faults >= fewest) continue;
    fewest = faults;
    nearest = candidate;
  }
  return nearest;
}

/** A short name admits few faults: otherwise almost every name would be near to it. */
function mostFaults(length: number): number {
  if (length < 2) return 0;
  if (length < 6) return 1;
  return length < 10 ? 2 : 3;
}

/** Optimal string alignment distance, three rows of the table at a time. */
function countFaults(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const best = Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      const isExchange = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(isExchange && row > 1 && column > 1 ? Math.min(best, (before[column - 2] ?? 0) + 1) : best);
    }
    before = above;
    above = current;
  }
  return above[right.length] ?? 0;
}
