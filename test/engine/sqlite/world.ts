import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { FindQuery, TableTarget } from '#engine/rows.ts';
import { parseFilter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

export interface TestEngine {
  readonly engine: Engine;
  readonly log: LogLine[];
}

export async function openSqlite(file: string, poolSize = 3): Promise<TestEngine> {
  const log: LogLine[] = [];
  const engine = await openEngine(
    { provider: 'sqlite', file, poolSize },
    { log: (level, message, fields) => log.push({ level, message, fields }), now: Date.now },
  );
  return { engine, log };
}

export function within(ms: number): { deadline: number } {
  return { deadline: performance.now() + ms };
}

const DECLARATION = `{"tables":[{"name":"notes","primaryKey":["id"],"columns":[
  {"name":"id","type":"int32","autoIncrement":true},{"name":"body","type":"text"}]}]}`;

/** Declares `notes (id, body)`, in `game` where nothing else is said. */
export async function declareNotes(engine: Engine, namespace = 'game', idType = 'int32'): Promise<TableTarget> {
  const { schema } = parseSchema(parseJson(DECLARATION.replace('int32', idType)));
  const steps = schema.tables.map((table) => ({ kind: 'createTable', table }) as const);
  const change = { namespace, from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within(5000));
  return readNotes(engine, namespace);
}

export async function readNotes(engine: Engine, namespace = 'game'): Promise<TableTarget> {
  const stored = await engine.schemas.readSchema(namespace, within(5000));
  const table = stored?.schema.tables[0];
  if (stored === null || table === undefined) throw new Error(`${namespace} is not declared`);
  return { namespace, revision: stored.revision, table };
}

export function insertNote(engine: Engine, target: TableTarget, body: string, ms = 5000): Promise<string> {
  return engine.write(target, { op: 'insert', rows: [new Map([['body', body]])] }, null, within(ms));
}

export async function bodies(engine: Engine, target: TableTarget, ms = 5000): Promise<string[]> {
  const query: FindQuery = { filter: null, fields: ['body'], sort: [], limit: 1000, offset: 0, maxBytes: 1e7 };
  const { rows } = await engine.find(target, query, within(ms));
  return (JSON.parse(rows) as { body: string }[]).map((row) => row.body);
}

export function notesWhere(target: TableTarget, condition: string) {
  return parseFilter(parseJson(condition), target.table);
}

/** Resolves once `holds` does not throw or answer false; rejects after `ms`. */
export async function until(holds: () => Promise<boolean> | boolean, ms = 10_000): Promise<void> {
  const end = performance.now() + ms;
  for (;;) {
    try {
      if (await holds()) return;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    if (performance.now() > end) throw new Error('it did not come about in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
