import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { FindQuery, TableTarget, Write } from '#engine/rows.ts';
import { parseFilter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash, type Table } from '#protocol/schema.ts';
import { freshDatabase } from '#support/databases.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

export interface MysqlWorld {
  readonly engine: Engine;
  readonly url: string;
  readonly log: LogLine[];
  close(): Promise<void>;
}

export function serverUrl(): string {
  const url = process.env.TEST_MYSQL_URL;
  if (url === undefined) throw new Error('TEST_MYSQL_URL is not set');
  return url;
}

/** An engine on a database of its own. */
export async function openWorld({ poolSize = 4 } = {}): Promise<MysqlWorld> {
  const database = await freshDatabase('mysql', serverUrl());
  const log: LogLine[] = [];
  const engine = await openMysql(database.url, log, poolSize);
  return {
    engine,
    url: database.url,
    log,
    close: async () => {
      await engine.close();
      await database.drop();
    },
  };
}

export function openMysql(url: string, log: LogLine[] = [], poolSize = 4): Promise<Engine> {
  return openEngine(
    { provider: 'mysql', url, poolSize, statementTimeoutMs: 4000 },
    { log: (level, message, fields) => log.push({ level, message, fields }), now: Date.now },
  );
}

export function within(ms: number): { deadline: number } {
  return { deadline: performance.now() + ms };
}

/** Declares tables (JSON text of the list) as the namespace `game`, and gives the targets of the calls by name. */
export async function declare(
  engine: Engine,
  tables: string,
  namespace = 'game',
): Promise<(name: string) => TableTarget> {
  const { schema } = parseSchema(parseJson(`{"tables":${tables}}`));
  const steps = schema.tables.map((table) => ({ kind: 'createTable', table }) as const);
  const change = { namespace, from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within(20_000));
  const stored = await engine.schemas.readSchema(namespace, within(5000));
  return (name) => {
    const table = stored?.schema.tables.find((candidate) => candidate.name === name);
    if (stored === null || table === undefined) throw new Error(`${name} is not declared`);
    return { namespace, revision: stored.revision, table };
  };
}

export function filterOf(table: Table, json: string) {
  return parseFilter(parseJson(json), table);
}

export async function rowsOf(engine: Engine, target: TableTarget, query: Partial<FindQuery> = {}): Promise<string> {
  const fields = target.table.columns.map(({ name }) => name);
  const whole = { filter: null, fields, sort: [], limit: 1000, offset: 0, maxBytes: 8e6, ...query };
  return (await engine.find(target, whole, within(10_000))).rows;
}

export function write(engine: Engine, target: TableTarget, change: Write, ms = 10_000): Promise<string> {
  return engine.write(target, change, null, within(ms));
}
