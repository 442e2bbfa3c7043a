// Peer of the transfers: the Node.js and SQLite server of the public comparison, written from its description: HTTP with one route,
// Drizzle, better-sqlite3 with the settings that it has by default (WAL, commits do not wait for the disk).
// `node scripts/bench/transfer/rpc-server.ts FILE DRIZZLE_FOLDER` fills the accounts and prints its port.
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ACCOUNTS, BALANCE } from './transfers.ts';

/** Parts of Drizzle that are used here; its own types are not there when this is checked. */
interface Builder {
  readonly from: (table: unknown) => Builder;
  readonly set: (values: object) => Builder;
  readonly where: (condition: unknown) => Builder;
  readonly all: () => { id: number; balance: number }[];
  readonly run: () => unknown;
}

interface Transaction {
  select(): Builder;
  update(table: unknown): Builder;
}

interface Drizzle {
  readonly drizzle: (database: unknown) => { transaction<T>(work: (transaction: Transaction) => T): T };
  readonly sqliteTable: (name: string, columns: object) => Record<'id' | 'balance', unknown>;
  readonly integer: (name: string) => { primaryKey(): object; notNull(): object };
  readonly eq: (column: unknown, value: number) => unknown;
  readonly inArray: (column: unknown, values: readonly number[]) => unknown;
}

const [file = '', folder = ''] = process.argv.slice(2);

async function loadDrizzle(): Promise<Drizzle> {
  const parts = ['better-sqlite3/index.js', 'sqlite-core/index.js', 'index.js'];
  const modules = await Promise.all(parts.map((part) => import(join(folder, part)) as Promise<Partial<Drizzle>>));
  return Object.assign({}, ...modules) as Drizzle;
}

const { drizzle, sqliteTable, integer, eq, inArray } = await loadDrizzle();

function openDatabase(): Database.Database {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.pragma('temp_store = MEMORY');
  database.pragma('cache_size = -64000');
  database.exec('CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)');
  const insert = database.prepare('INSERT INTO accounts (id, balance) VALUES (?, ?)');
  database.transaction(() => {
    for (let id = 0; id < ACCOUNTS; id += 1) insert.run(id, BALANCE);
  })();
  return database;
}

const accounts = sqliteTable('accounts', { id: integer('id').primaryKey(), balance: integer('balance').notNull() });
const db = drizzle(openDatabase());

/** Reads both, checks, takes, gives: one transaction. */
function transfer({ from_id: from, to_id: to, amount }: Record<'from_id' | 'to_id' | 'amount', number>): void {
  db.transaction((transaction) => {
    const rows = transaction
      .select()
      .from(accounts)
      .where(inArray(accounts.id, [from, to]))
      .all();
    const [balanceOf, other] = [from, to].map((id) => rows.find((row) => row.id === id)?.balance);
    if (balanceOf === undefined || other === undefined) throw new Error('there is no such account');
    if (balanceOf < amount) return;
    const change = (id: number, balance: number) =>
      transaction.update(accounts).set({ balance }).where(eq(accounts.id, id)).run();
    change(from, balanceOf - amount);
    change(to, other + amount);
  });
}

async function read(request: IncomingMessage): Promise<{ args: Parameters<typeof transfer>[0] }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

const server = createServer((request, response) => {
  const answer = (status: number, body: object): void => {
    const text = JSON.stringify(body);
    response
      .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  };
  read(request)
    .then(({ args }) => {
      transfer(args);
      answer(200, { ok: true });
    })
    .catch((error: Error) => answer(500, { ok: false, error: error.message }));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : 0);
});
process.on('SIGTERM', () => process.exit(0));
