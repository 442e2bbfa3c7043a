import { afterAll, beforeAll } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { fenced } from '#engine/model/queue-places.ts';
import { openEngine } from '#engine/open.ts';
import type { QueueBatch, QueuedEntry, QueueRow } from '#engine/queues.ts';
import type { CallBounds, Row, TableTarget, Write } from '#engine/rows.ts';
import type { DatabaseSettings } from '#engine/settings.ts';
import { ApiError } from '#protocol/errors.ts';
import { parseFilter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import type { Value } from '#protocol/values.ts';
import { atNode } from '../support/cluster/cluster-under-test.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';

const DECLARATION = `{"tables":[
  {"name":"items","primaryKey":["id"],"columns":[
    {"name":"id","type":"int32"},{"name":"body","type":"text"},
    {"name":"n","type":"int32","default":0},{"name":"tag","type":"string","nullable":true,"unique":true}]},
  {"name":"events","primaryKey":["id"],"columns":[
    {"name":"id","type":"int32","autoIncrement":true},{"name":"body","type":"text"}]}]}`;

export const INT32_MAX = 2 ** 31 - 1;

export interface QueueWorld {
  readonly engine: Engine;
  /** Another sidecar on the same database. */
  readonly beside: Engine;
}

/** Two engines on an empty database, opened before the tests of a file and closed after them. */
export function useEngines(): QueueWorld {
  let database: TestDatabase | null = null;
  const engines: Engine[] = [];
  beforeAll(async () => {
    database = await newDatabase();
    for (let i = 0; i < 2; i++) {
      const settings = { ...atNode(database.settings, i), poolSize: 4, statementTimeoutMs: 30_000 };
      engines.push(await openEngine(settings as unknown as DatabaseSettings, { log: () => {}, now: Date.now }));
    }
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await database?.drop();
  });
  const opened = (i: number): Engine => {
    const engine = engines[i];
    if (engine === undefined) throw new Error('the engine is not opened yet');
    return engine;
  };
  return {
    get engine() {
      return opened(0);
    },
    get beside() {
      return opened(1);
    },
  };
}

export function within(ms = 30_000): CallBounds {
  return { deadline: performance.now() + ms };
}

let namespaces = 0;

/** A namespace of its own with `items` and `events`, and a queue that belongs to `journal`. */
export async function newQueue(engine: Engine, journal = 'journal-a'): Promise<TestQueue> {
  namespaces += 1;
  const namespace = `queue${namespaces}`;
  const { schema } = parseSchema(parseJson(DECLARATION));
  const steps = schema.tables.map((table) => ({ kind: 'createTable', table }) as const);
  const change = { namespace, from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within());
  const { token } = await engine.queues.claimQueue(namespace, journal, within());
  return new TestQueue(engine, namespace, journal, token);
}

type Values = Readonly<Record<string, Value>>;

/** A namespace with its queue; entries get their positions in the order in which they are made. */
export class TestQueue {
  readonly engine: Engine;
  readonly namespace: string;
  readonly journal: string;
  readonly token: number;
  #position = 0;

  constructor(engine: Engine, namespace: string, journal: string, token: number) {
    this.engine = engine;
    this.namespace = namespace;
    this.journal = journal;
    this.token = token;
  }

  async target(name: string): Promise<TableTarget> {
    const stored = await this.engine.schemas.readSchema(this.namespace, within());
    const table = stored?.schema.tables.find((candidate) => candidate.name === name);
    if (stored === null || table === undefined) throw new Error(`${this.namespace}.${name} is not declared`);
    return { namespace: this.namespace, revision: stored.revision, table };
  }

  entry(target: TableTarget, write: Write | ApiError, more: Partial<QueuedEntry> = {}): QueuedEntry {
    this.#position += 1;
    return {
      position: this.#position,
      letterId: `${this.namespace}-${this.journal}-${this.#position}`,
      isRetry: false,
      kid: 'local',
      op: 'op' in write ? write.op : 'insert',
      payload: `{"number":${this.#position}}`,
      time: 1_790_000_000_000 + this.#position,
      work: 'op' in write ? { target, write } : write,
      ...more,
    };
  }

  batch(entries: readonly QueuedEntry[], owner: Partial<QueueBatch> = {}): QueueBatch {
    const { namespace, journal, token } = this;
    return { namespace, journal, token, entries, ...owner };
  }

  apply(entries: readonly QueuedEntry[], owner: Partial<QueueBatch> = {}, bounds = within()) {
    return this.engine.queues.applyQueue(this.batch(entries, owner), bounds);
  }

  row(): Promise<QueueRow | null> {
    return this.engine.queues.readQueue(this.namespace, this.journal, within());
  }

  /** As a restore does. */
  async fence(engine = this.engine): Promise<QueueRow> {
    const row = fenced((await this.row()) as QueueRow);
    await engine.transfer.writeQueue(row, within());
    return row;
  }

  letters() {
    return this.engine.queues.listLetters(this.namespace, within());
  }

  async items(fields: readonly string[] = ['id', 'body', 'n', 'tag']): Promise<Record<string, unknown>[]> {
    return rowsOf(this.engine, await this.target('items'), fields);
  }
}

/** All rows in the order of the key. */
export async function rowsOf(
  engine: Engine,
  target: TableTarget,
  fields: readonly string[],
): Promise<Record<string, unknown>[]> {
  const query = { filter: null, fields, sort: [{ column: 'id', dir: 'asc' }], limit: 10_000, offset: 0, maxBytes: 1e8 };
  const page = await engine.find(target, query as Parameters<Engine['find']>[1], within());
  return JSON.parse(page.rows) as Record<string, unknown>[];
}

export function item(id: number, more: Values = {}): Row {
  return new Map<string, Value>(Object.entries({ id, body: `body ${id}`, n: 0, tag: null, ...more }));
}

export function insert(...rows: Row[]): Write {
  return { op: 'insert', rows };
}

export function byId(target: TableTarget, id: number) {
  return parseFilter(parseJson(`{"field":"id","op":"eq","value":${id}}`), target.table);
}

export function add(target: TableTarget, id: number, amount: number): Write {
  return addAmount(target, id, amount);
}

/** To every item where the id is null. */
export function addAmount(target: TableTarget, id: number | null, amount: number): Write {
  const inc = new Map<string, Value>([['n', BigInt(amount)]]);
  return { op: 'update', filter: id === null ? null : byId(target, id), set: new Map(), inc };
}

export function setTag(target: TableTarget, id: number, tag: string | null): Write {
  return { op: 'update', filter: byId(target, id), set: new Map([['tag', tag]]), inc: new Map() };
}

export function setBody(target: TableTarget, id: number, body: string): Write {
  return { op: 'update', filter: byId(target, id), set: new Map([['body', body]]), inc: new Map() };
}

export function upsert(id: number, more: Values = {}): Write {
  return { op: 'upsert', row: item(id, more), keys: ['id'], update: Object.keys(more) };
}

export function remove(target: TableTarget, id: number): Write {
  return { op: 'delete', filter: byId(target, id) };
}

/** As the data layer gives it: a new row holds the sum, or says why it cannot. */
export function countUp(id: number, from: number, amount: number): Write {
  const begun = from + amount;
  const insertFault = new ApiError('invalid_value', 'out of range');
  return {
    ...{ op: 'upsert', keys: ['id'], update: [], inc: new Map([['n', BigInt(amount)]]) },
    ...(begun > INT32_MAX ? { row: item(id, {}), insertFault } : { row: item(id, { n: begun }) }),
  };
}
