/** Duration of one request. Unsigned: only a hint for people. */
export interface ServerTiming {
  /** From the request's head to its answer. */
  readonly totalMs: number;
  /** Part of it that was spent in waiting for the database. */
  readonly databaseMs: number;
}

const MAX_LENGTH = 256;
const METRIC = /^(total|db);dur=(\d{1,9}(?:\.\d{1,3})?)$/;

/** The `Server-Timing` header of a signed answer (W3C Server Timing). */
export function writeServerTiming({ totalMs, databaseMs }: ServerTiming): string {
  return `total;dur=${totalMs.toFixed(1)}, db;dur=${databaseMs.toFixed(1)}`;
}

/** Null for anything else than what `writeServerTiming` writes. */
export function parseServerTiming(header: string): ServerTiming | null {
  if (header.length > MAX_LENGTH) return null;
  const durations = new Map<string, number>();
  for (const metric of header.split(',')) {
    const [, name, duration] = METRIC.exec(metric.trim()) ?? [];
    if (name !== undefined) durations.set(name, Number(duration));
  }
  const totalMs = durations.get('total');
  return totalMs === undefined ? null : { totalMs, databaseMs: durations.get('db') ?? 0 };
}
