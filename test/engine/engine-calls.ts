import type { Engine } from '#engine/engine.ts';
import type { FindQuery, Row, TableTarget } from '#engine/rows.ts';
import { parseFilter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import type { JsonObject } from '#protocol/json-value.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';

/** Declares tables of the namespace and gives what the API would hand to the engine for each. */
export async function declare(
  engine: Engine,
  namespace: string,
  tables: readonly object[],
): Promise<Record<string, TableTarget>> {
  const { schema } = parseSchema({ tables } as unknown as JsonObject);
  const steps = schema.tables.map((table) => ({ kind: 'createTable', table }) as const);
  const change = { namespace, from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within(20_000));
  const stored = await engine.schemas.readSchema(namespace, within(5000));
  if (stored === null) throw new Error(`${namespace} is not declared`);
  return Object.fromEntries(
    stored.schema.tables.map((table) => [table.name, { namespace, revision: stored.revision, table }]),
  );
}

export function within(ms: number): { deadline: number } {
  return { deadline: performance.now() + ms };
}

export function where(target: TableTarget, condition: object) {
  return parseFilter(parseJson(JSON.stringify(condition)), target.table);
}

export function row(values: Readonly<Record<string, Row extends ReadonlyMap<string, infer V> ? V : never>>): Row {
  return new Map(Object.entries(values));
}

export async function rowsOf(engine: Engine, target: TableTarget): Promise<unknown[]> {
  const fields = target.table.columns.map(({ name }) => name);
  const query: FindQuery = { filter: null, fields, sort: [], limit: 10_000, offset: 0, maxBytes: 1e7 };
  return JSON.parse((await engine.find(target, query, within(10_000))).rows) as unknown[];
}

export const ID = { name: 'id', type: 'int64', autoIncrement: true } as const;
