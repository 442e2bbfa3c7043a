import { isColumn, isNamespace, isTable } from '#protocol/identifiers.ts';
import type { SeenCall } from '#sidecar/data/call-watch.ts';
import type { SlowAnswer, SlowCall } from '../shapes/database.ts';

/** Same threshold as the connector's. */
const THRESHOLD_MS = 200;
const MAX_KEPT = 200;
const MAX_COLUMNS = 20;
/** Depth in which a payload is searched; filters have bounded depth, other values are not searched. */
const MAX_DEPTH = 10;

/** The latest slow calls with the names in them. Stores no value that a call wrote or searched for. */
export class SlowCalls {
  readonly #now: () => number;
  readonly #kept: SlowCall[] = [];
  #calls = 0;
  #slow = 0;

  /** Epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  saw(call: SeenCall): void {
    this.#calls += 1;
    if (call.ms < THRESHOLD_MS) return;
    this.#slow += 1;
    this.#kept.push(slowCall(call, this.#now()));
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
  }

  read(): SlowAnswer {
    return { thresholdMs: THRESHOLD_MS, calls: this.#calls, slow: this.#slow, latest: this.#kept.toReversed() };
  }
}

function slowCall({ operation, kid, payload, code, ms, databaseMs }: SeenCall, now: number): SlowCall {
  const { namespace, table, filter, sort } = (payload ?? {}) as Readonly<Record<string, unknown>>;
  const columns = new Set<string>();
  collectFields(filter, columns, 0);
  collectFields(sort, columns, 0);
  return {
    time: new Date(now).toISOString(),
    ...{ operation, kid, code },
    // Any other name is the caller's own text.
    namespace: typeof namespace === 'string' && isNamespace(namespace) ? namespace : null,
    table: typeof table === 'string' && isTable(table) ? table : null,
    columns: [...columns],
    ms: Math.round(ms),
    databaseMs: Math.round(databaseMs),
  };
}

function collectFields(part: unknown, found: Set<string>, depth: number): void {
  if (typeof part !== 'object' || part === null || depth > MAX_DEPTH || found.size >= MAX_COLUMNS) return;
  if (Array.isArray(part)) {
    for (const member of part) collectFields(member, found, depth + 1);
    return;
  }
  const { field, and, or, not } = part as Readonly<Record<string, unknown>>;
  if (typeof field === 'string' && isColumn(field)) found.add(field);
  for (const group of [and, or, not]) collectFields(group, found, depth + 1);
}
