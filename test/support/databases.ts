import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';

export type ServerEngine = 'postgres' | 'mysql' | 'mongodb';

/** A database of its own on a server, empty. The caller drops it. */
export interface FreshDatabase {
  /** With the database's name in its path. */
  readonly url: string;
  drop(): Promise<void>;
}

/** Makes a database with the account of the tests, which may make those whose names begin with `sidecar_`. */
export function freshDatabase(engine: ServerEngine, serverUrl: string): Promise<FreshDatabase> {
  const name = `sidecar_${randomBytes(6).toString('hex')}`;
  const own = new URL(serverUrl);
  own.pathname = `/${name}`;
  switch (engine) {
    case 'postgres':
      return freshPostgres(serverUrl, own.href, name);
    case 'mysql':
      return freshMysql(serverUrl, own.href, name);
    case 'mongodb':
      return Promise.resolve({ url: own.href, drop: () => dropMongo(own.href) });
    default:
      return engine satisfies never;
  }
}

async function freshPostgres(serverUrl: string, url: string, name: string): Promise<FreshDatabase> {
  const run = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: serverUrl, options: '-c statement_timeout=60000' });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE ${name}`);
  return { url, drop: () => dropPostgres(run, name) };
}

const DROP_MS = 60_000;
/** `insufficient_privilege`, `object_in_use`. */
const IN_THE_WAY = ['42501', '55006'];

/**
 * FORCE ends the sessions of this account, and is refused where the server's own autovacuum is among them; without it the
 * server sends that one away and waits for it, for some seconds.
 */
async function dropPostgres(run: (statement: string) => Promise<void>, name: string): Promise<void> {
  const end = performance.now() + DROP_MS;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run(`DROP DATABASE IF EXISTS ${name}${attempt % 2 === 0 ? ' WITH (FORCE)' : ''}`);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (!IN_THE_WAY.includes(code) || performance.now() > end) throw error;
    }
  }
}

async function freshMysql(serverUrl: string, url: string, name: string): Promise<FreshDatabase> {
  const run = async (statement: string): Promise<void> => {
    const connection = await createConnection(serverUrl);
    try {
      await connection.query(statement);
    } finally {
      await connection.end();
    }
  };
  // The character set is the server's own, as on an owner's server.
  await run(`CREATE DATABASE ${name}`);
  return { url, drop: () => run(`DROP DATABASE IF EXISTS ${name}`) };
}

async function dropMongo(url: string): Promise<void> {
  const client = new MongoClient(url);
  try {
    await client.db().dropDatabase();
  } finally {
    await client.close();
  }
}
