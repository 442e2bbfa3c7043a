import { expect } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { SchemaCalls } from '#engine/schema-calls.ts';
import type { JsonObject } from '#protocol/json-value.ts';
import { MAIN_PART } from '#protocol/schema.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { NamespaceGate } from '#sidecar/schema/gate.ts';
import { SchemaSync } from '#sidecar/schema/sync.ts';
import type { SyncResult } from '#sidecar/schema/sync-request.ts';

type Schemas = Pick<SchemaCalls, 'readSchema' | 'applySchema'>;

const TEXT = { type: 'string', length: 20, nullable: true };
const keyed = (name: string, ...columns: string[]) => ({
  name,
  primaryKey: ['id'],
  columns: [{ name: 'id', type: 'int64' }, ...columns.map((column) => ({ name: column, ...TEXT }))],
});
const MAIN = [keyed('people', 'name')];
const WIDER = [keyed('people', 'name', 'job')];
/** Both parts touch the main part's table, and each has one of its own. */
const part = (own: string, column: string) => [
  keyed(own),
  {
    name: 'people',
    columns: [{ name: column, ...TEXT }],
    indexes: [{ name: `by_${column}`, columns: [column, 'name'] }],
  },
];
const PHONE = part('calls', 'phone');
const GARAGE = part('cars', 'car');

/** A sidecar's way to change schemas, alone on its database. */
function declareOn(schemas: Schemas) {
  const engine = {
    capabilities: { maxDecimalScale: Number.POSITIVE_INFINITY },
    schemas,
    leases: { hold: async () => ({ isFresh: true, check: async () => {}, release: async () => {} }) },
    transfer: { readMark: async () => null },
  } as unknown as Engine;
  const sync = new SchemaSync({
    ...{ engine, catalog: new SchemaCatalog(engine), gate: new NamespaceGate(), removed: 'quarantine' },
    ...{ now: () => 0, log: () => {}, drain: async () => {} },
  });
  return (namespace: string, name: string, tables: readonly object[]): Promise<SyncResult> =>
    sync.sync({
      ...{ namespace, part: name, schema: { tables: tables as JsonObject[] }, dryRun: false },
      deadline: performance.now() + 60_000,
    });
}

async function state(schemas: Schemas, namespace: string) {
  const stored = await schemas.readSchema(namespace, { deadline: performance.now() + 60_000 });
  const tables = stored?.schema.tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]);
  return { tables: Object.fromEntries(tables ?? []), parts: stored?.schema.parts?.map(({ name }) => name) };
}

/** Main part and garage are there, phone is not. */
export async function beforePhone(schemas: Schemas, namespace: string): Promise<void> {
  const declare = declareOn(schemas);
  await declare(namespace, MAIN_PART, MAIN);
  await declare(namespace, 'garage', GARAGE);
}

export function declarePhone(schemas: Schemas, namespace: string): Promise<SyncResult> {
  return declareOn(schemas)(namespace, 'phone', PHONE);
}

/**
 * After a crash somewhere in `declarePhone`: the next call is somebody else's and reaches its own target; phone is whole
 * or not there, and reaches its target when it is asked again; the third part is never touched.
 */
export async function checkAfterCrash(schemas: Schemas, namespace: string): Promise<'whole' | 'absent'> {
  const declare = declareOn(schemas);
  expect(await declare(namespace, MAIN_PART, WIDER)).toMatchObject({ status: 'applied' });
  const between = await state(schemas, namespace);
  const isWhole = between.parts?.includes('phone') === true;
  expect(between.tables).toEqual({
    ...(isWhole ? { calls: ['id'] } : {}),
    cars: ['id'],
    people: ['id', 'name', 'job', 'car', ...(isWhole ? ['phone'] : [])],
  });
  expect(await declare(namespace, 'phone', PHONE)).toMatchObject({ status: isWhole ? 'unchanged' : 'applied' });
  expect(await declare(namespace, 'garage', GARAGE)).toMatchObject({ status: 'unchanged' });
  expect(await state(schemas, namespace)).toEqual({
    tables: { calls: ['id'], cars: ['id'], people: ['id', 'name', 'job', 'car', 'phone'] },
    parts: ['garage', 'phone'],
  });
  return isWhole ? 'whole' : 'absent';
}
