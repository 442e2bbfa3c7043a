import { execFileSync } from 'node:child_process';
import { BSON, MongoClient } from 'mongodb';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Client } from 'pg';
import type { ServerEngine } from '../databases.ts';

/** A database of a server as text, and back. */

/** @param pgDump the program `pg_dump`, of the server's version or a newer one */
export async function dumpOf(engine: ServerEngine, url: string, pgDump: string): Promise<string[]> {
  if (engine === 'postgres') {
    const args = ['--no-owner', '--no-privileges', '--inserts', `--dbname=${url}`];
    const text = execFileSync(pgDump, args, { encoding: 'utf8' });
    // Meta-commands of `psql` are none of the server's.
    return [text.replaceAll(/^\\.*$/gm, '')];
  }
  return engine === 'mysql' ? dumpMysql(url) : dumpMongo(url);
}

export async function loadDump(engine: ServerEngine, url: string, dump: readonly string[]): Promise<void> {
  if (engine === 'mongodb') return loadMongo(url, dump);
  if (engine === 'mysql') {
    const connection = await createConnection(url);
    try {
      // The server of the tests does not commit by itself.
      await connection.query('SET SESSION autocommit = 1');
      for (const statement of dump) await connection.query(statement);
    } finally {
      await connection.end();
    }
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // The server of the tests reads backslashes as it did in old times.
    await client.query('SET standard_conforming_strings = on');
    for (const statement of dump) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Each value as its bytes: no digit and no character changes. */
async function dumpMysql(url: string): Promise<string[]> {
  const connection = await createConnection(url);
  try {
    const statements = ["SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", 'SET FOREIGN_KEY_CHECKS = 0'];
    const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
    for (const name of tables.map((row) => String(Object.values(row)[0]))) {
      const [[made]] = await connection.query<RowDataPacket[]>(`SHOW CREATE TABLE \`${name}\``);
      statements.push(String(made?.['Create Table']));
      const [columns] = await connection.query<RowDataPacket[]>(
        'SELECT column_name AS n, data_type AS t, character_set_name AS c FROM information_schema.columns ' +
          "WHERE table_schema = database() AND table_name = ? AND extra NOT LIKE '%GENERATED' ORDER BY ordinal_position",
        [name],
      );
      const list = columns.map(({ n }) => `\`${n}\``);
      const values = columns.map(({ n, t, c }) => {
        if (t === 'json') return `CONCAT('CONVERT(0x', HEX(CAST(\`${n}\` AS CHAR)), ' USING utf8mb4)')`;
        if (c !== null) return `IF(\`${n}\` = '', "''", CONCAT('_${c} 0x', HEX(\`${n}\`)))`;
        if (/binary|blob/.test(String(t))) return `IF(\`${n}\` = '', "''", CONCAT('0x', HEX(\`${n}\`)))`;
        return `QUOTE(\`${n}\`)`;
      });
      const row = values.map((value) => `IFNULL(${value}, 'NULL')`).join(`, ',', `);
      const [rows] = await connection.query<RowDataPacket[]>(`SELECT CONCAT(${row}) AS r FROM \`${name}\``);
      for (const { r } of rows) statements.push(`INSERT INTO \`${name}\` (${list.join()}) VALUES (${r})`);
    }
    return statements;
  } finally {
    await connection.end();
  }
}

async function dumpMongo(url: string): Promise<string[]> {
  const client = new MongoClient(url, { promoteValues: false, ignoreUndefined: false });
  try {
    const db = client.db();
    const lines: string[] = [];
    for (const { name, options } of (await db.listCollections({}, { nameOnly: false }).toArray()) as never as Named[]) {
      const indexes = await db.collection(name).listIndexes().toArray();
      lines.push(BSON.EJSON.stringify({ collection: name, options, indexes }, { relaxed: false }));
      const rows = await db.collection(name).find({}, { promoteValues: false }).toArray();
      for (const row of rows) lines.push(BSON.EJSON.stringify({ into: name, row }, { relaxed: false }));
    }
    return lines;
  } finally {
    await client.close();
  }
}

interface Named {
  readonly name: string;
  readonly options: Record<string, unknown>;
}

type MongoLine =
  | {
      readonly collection: string;
      readonly options: object;
      readonly indexes: { key: never; name: string; v: number }[];
    }
  | { readonly into: string; readonly row: object };

async function loadMongo(url: string, dump: readonly string[]): Promise<void> {
  const client = new MongoClient(url);
  try {
    const db = client.db();
    for (const text of dump) {
      const line = BSON.EJSON.parse(text, { relaxed: false }) as MongoLine;
      if ('into' in line) {
        await db.collection(line.into).insertOne(line.row, { bypassDocumentValidation: true });
        continue;
      }
      await db.createCollection(line.collection, line.options);
      for (const { key, v: _, ...options } of line.indexes) {
        if (options.name !== '_id_') await db.collection(line.collection).createIndex(key, options);
      }
    }
  } finally {
    await client.close();
  }
}
