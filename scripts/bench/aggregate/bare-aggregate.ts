// Base line of `aggregate`: Fastify with one unsigned POST route that runs the statement a scripter would write, through
// the bare driver. `node scripts/bench/aggregate/bare-aggregate.ts SETTINGS_FILE` prints its port; the file is `database`
// of sidecar.json, since a URL holds a password.
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import fastify from 'fastify';
import { MongoClient } from 'mongodb';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import type { Settings } from '../engines/bare-statements.ts';

const SQL = `SELECT grp, count(*) AS n, sum(amount) AS amounts, sum(price) AS prices FROM bench__ledger GROUP BY grp`;

async function statement({ provider, file, url }: Settings): Promise<() => unknown> {
  switch (provider) {
    case 'sqlite': {
      const aggregate = new Database(`${file}`, { readonly: true }).prepare(SQL);
      return () => aggregate.all();
    }
    case 'postgres': {
      const pool = new Pool({ connectionString: `${url}` });
      return async () => (await pool.query({ name: 'aggregate', text: SQL })).rows;
    }
    case 'mysql': {
      const pool = createPool({ uri: `${url}` });
      return async () => (await pool.execute(SQL))[0];
    }
    case 'mongodb': {
      const client = await new MongoClient(`${url}`).connect();
      const sums = { n: { $sum: 1 }, amounts: { $sum: '$amount' }, prices: { $sum: '$price' } };
      return () =>
        client
          .db()
          .collection('bench__ledger')
          .aggregate([{ $group: { _id: '$grp', ...sums } }])
          .toArray();
    }
    default:
      return provider satisfies never;
  }
}

const [settingsFile] = process.argv.slice(2) as [string];
const run = await statement(JSON.parse(readFileSync(settingsFile, 'utf8')) as Settings);
const app = fastify({ logger: false });
app.post('/aggregate', async () => ({ rows: await run(), hasMore: false }));
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
console.log(typeof address === 'object' && address !== null ? address.port : 0);
process.on('SIGTERM', () => process.exit(0));
