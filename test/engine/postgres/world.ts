import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { IdempotencySlot, Row, TableTarget } from '#engine/rows.ts';
import { parseFilter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import type { Value } from '#protocol/values.ts';
import { sync, within } from './schema-world.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
}

export interface LoggedEngine {
  readonly engine: Engine;
  readonly log: LogLine[];
}

export async function openLogged(url: string, poolSize = 3): Promise<LoggedEngine> {
  const log: LogLine[] = [];
  const settings = { provider: 'postgres', url, poolSize, statementTimeoutMs: 4000 } as const;
  const options = { log: (level: string, message: string) => log.push({ level, message }), now: Date.now };
  return { engine: await openEngine(settings, options), log };
}

export const NOTES = {
  name: 'notes',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32', autoIncrement: true },
    { name: 'body', type: 'text' },
    { name: 'n', type: 'int64', default: 0 },
    { name: 'tag', type: 'string', nullable: true, unique: true },
  ],
};

export async function declare(engine: Engine, namespace: string, table: object = NOTES): Promise<TableTarget> {
  const stored = await sync(engine, namespace, { tables: [table] });
  const declared = stored?.schema.tables[0];
  if (stored === null || declared === undefined) throw new Error(`${namespace} is not declared`);
  return { namespace, revision: stored.revision, table: declared };
}

export function row(values: Readonly<Record<string, Value>>): Row {
  return new Map(Object.entries(values));
}

export function note(values: Readonly<Record<string, Value>>): Row {
  return row({ body: 'x', n: 0n, tag: null, ...values });
}

export function insert(
  engine: Engine,
  target: TableTarget,
  rows: readonly Row[],
  ms = 5000,
  slot: IdempotencySlot | null = null,
): Promise<string> {
  return engine.write(target, { op: 'insert', rows }, slot, within(ms));
}

export function where(target: TableTarget, condition: object) {
  return parseFilter(parseJson(JSON.stringify(condition)), target.table);
}

export function byId(target: TableTarget, id: number) {
  return where(target, { field: 'id', op: 'eq', value: id });
}

export async function idsOf(engine: Engine, target: TableTarget): Promise<number[]> {
  const query = { filter: null, fields: ['id'], sort: [], limit: 1000, offset: 0, maxBytes: 1e7 };
  const { rows } = await engine.find(target, query, within(5000));
  return (JSON.parse(rows) as { readonly id: number }[]).map(({ id }) => id);
}

export function slotOf(key: string, fingerprint = 'f', now = Date.now()): IdempotencySlot {
  return { kid: 'local', namespace: 'game', key, fingerprint, now, expiresAt: now + 600_000 };
}
