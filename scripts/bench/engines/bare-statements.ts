import Database from 'better-sqlite3';
import { Long, MongoClient } from 'mongodb';
import { createPool, type ResultSetHeader } from 'mysql2/promise';
import { Pool } from 'pg';
import type { EngineKind } from './items.ts';

export interface Settings {
  readonly provider: 'sqlite' | 'postgres' | 'mysql' | 'mongodb';
  readonly file?: string;
  readonly url?: string;
}

interface Row {
  readonly id?: number;
  readonly name: string;
  readonly grp: number;
  readonly hits: number;
  readonly note: string;
}

/** Payload of items.ts. */
interface Payload {
  readonly filter: { readonly value: number };
  readonly rows: readonly Row[];
  readonly row: Row;
}

/** Each runs the statement that a scripter would write by hand, and gives what the API would answer. */
export type BareStatements = Record<EngineKind, (payload: Payload) => unknown>;

/** As many connections as the sidecar has by default. */
const POOL_SIZE = 4;

export function bareStatements(settings: Settings): Promise<BareStatements> {
  switch (settings.provider) {
    case 'sqlite':
      return Promise.resolve(onSqlite(`${settings.file}`));
    case 'postgres':
      return Promise.resolve(onPostgres(`${settings.url}`));
    case 'mysql':
      return Promise.resolve(onMysql(`${settings.url}`));
    case 'mongodb':
      return onMongo(`${settings.url}`);
    default:
      return settings.provider satisfies never;
  }
}

const VALUES = ({ name, grp, hits, note }: Row): [string, number, number, string] => [name, grp, hits, note];
const FIND = 'SELECT id, name, grp, hits, note FROM bench__items WHERE id =';
const LIST = 'SELECT id, name, grp, hits, note FROM bench__items WHERE grp =';

function onSqlite(file: string): BareStatements {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  const find = db.prepare(`${FIND} ?`);
  const list = db.prepare(`${LIST} ? ORDER BY id LIMIT 20`);
  const add = db.prepare('INSERT INTO bench__inserts (name, grp, hits, note) VALUES (?, ?, ?, ?)');
  const inc = db.prepare('UPDATE bench__items SET hits = hits + 1 WHERE id = ?');
  const upsert = db.prepare(
    `INSERT INTO bench__items (id, name, grp, hits, note) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, grp = excluded.grp, hits = excluded.hits, note = excluded.note`,
  );
  const insert = db.transaction((rows: readonly Row[]) => ({
    inserted: rows.length,
    ids: rows.map((row) => add.run(...VALUES(row)).lastInsertRowid),
  }));
  return {
    findByKey: ({ filter }) => ({ rows: find.all(filter.value), hasMore: false }),
    list20: ({ filter }) => ({ rows: list.all(filter.value), hasMore: false }),
    insert: ({ rows }) => insert(rows),
    insert500: ({ rows }) => insert(rows),
    inc: ({ filter }) => ({ affected: inc.run(filter.value).changes }),
    upsert: ({ row }) => ({ affected: upsert.run(row.id, ...VALUES(row)).changes }),
  };
}

function onPostgres(url: string): BareStatements {
  const pool = new Pool({ connectionString: url, max: POOL_SIZE });
  const query = (name: string, text: string, values: unknown[]) => pool.query({ name, text, values });
  const insert = async ({ rows }: Payload): Promise<unknown> => {
    const places = rows.map((_, i) => `($${4 * i + 1}, $${4 * i + 2}, $${4 * i + 3}, $${4 * i + 4})`).join(', ');
    const text = `INSERT INTO bench__inserts (name, grp, hits, note) VALUES ${places} RETURNING id`;
    const result = await query(`insert${rows.length}`, text, rows.flatMap(VALUES));
    return { inserted: result.rowCount, ids: result.rows.map((row: { id: string }) => row.id) };
  };
  const upsert = `INSERT INTO bench__items (id, name, grp, hits, note) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, grp = excluded.grp, hits = excluded.hits, note = excluded.note`;
  return {
    findByKey: async ({ filter }) => ({ rows: (await query('find', `${FIND} $1`, [filter.value])).rows }),
    list20: async ({ filter }) => ({
      rows: (await query('list', `${LIST} $1 ORDER BY id LIMIT 20`, [filter.value])).rows,
    }),
    insert,
    insert500: insert,
    inc: async ({ filter }) => ({
      affected: (await query('inc', 'UPDATE bench__items SET hits = hits + 1 WHERE id = $1', [filter.value])).rowCount,
    }),
    upsert: async ({ row }) => ({ affected: (await query('upsert', upsert, [row.id, ...VALUES(row)])).rowCount }),
  };
}

function onMysql(url: string): BareStatements {
  const pool = createPool({ uri: url, connectionLimit: POOL_SIZE });
  const change = async (sql: string, values: (string | number)[]): Promise<ResultSetHeader> =>
    (await pool.execute<ResultSetHeader>(sql, values))[0];
  const insert = async ({ rows }: Payload): Promise<unknown> => {
    const places = rows.map(() => '(?, ?, ?, ?)').join(', ');
    const sql = `INSERT INTO bench__inserts (name, grp, hits, note) VALUES ${places}`;
    const { affectedRows, insertId } = await change(sql, rows.flatMap(VALUES));
    return { inserted: affectedRows, ids: rows.map((_, i) => insertId + i) };
  };
  const upsert = `INSERT INTO bench__items (id, name, grp, hits, note) VALUES (?, ?, ?, ?, ?)
    ON DUPLICATE KEY UPDATE name = VALUES(name), grp = VALUES(grp), hits = VALUES(hits), note = VALUES(note)`;
  return {
    findByKey: async ({ filter }) => ({ rows: (await pool.execute(`${FIND} ?`, [filter.value]))[0] }),
    list20: async ({ filter }) => ({
      rows: (await pool.execute(`${LIST} ? ORDER BY id LIMIT 20`, [filter.value]))[0],
    }),
    insert,
    insert500: insert,
    inc: async ({ filter }) => ({
      affected: (await change('UPDATE bench__items SET hits = hits + 1 WHERE id = ?', [filter.value])).affectedRows,
    }),
    upsert: async ({ row }) => ({ affected: (await change(upsert, [Number(row.id), ...VALUES(row)])).affectedRows }),
  };
}

async function onMongo(url: string): Promise<BareStatements> {
  const client = new MongoClient(url, { maxPoolSize: POOL_SIZE });
  await client.connect();
  const items = client.db().collection('bench__items');
  const inserts = client.db().collection('bench__inserts');
  let lastId = Date.now();
  const insert = async ({ rows }: Payload): Promise<unknown> => {
    const documents = rows.map((row) => ({ ...row, id: Long.fromNumber(++lastId) }));
    await inserts.insertMany(documents);
    return { inserted: rows.length, ids: documents.map(({ id }) => id.toNumber()) };
  };
  const fields = { projection: { _id: 0 } };
  return {
    findByKey: async ({ filter }) => ({ rows: await items.find({ id: filter.value }, fields).toArray() }),
    list20: async ({ filter }) => ({
      rows: await items.find({ grp: filter.value }, fields).sort({ id: 1 }).limit(20).toArray(),
    }),
    insert,
    insert500: insert,
    inc: async ({ filter }) => ({
      affected: (await items.updateOne({ id: filter.value }, { $inc: { hits: 1 } })).matchedCount,
    }),
    upsert: async ({ row: { id, ...row } }) => {
      await items.updateOne({ id: Number(id) }, { $set: row }, { upsert: true });
      return { affected: 1 };
    },
  };
}
