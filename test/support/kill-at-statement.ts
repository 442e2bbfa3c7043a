import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import SQLite from 'better-sqlite3';

/**
 * Preloaded into a program under test (`NODE_OPTIONS=--import …`): kills it by SIGKILL at one statement of SQLite. The file
 * that `KILL_FILE` names says at which moment; as long as it is absent nothing is counted. Each statement of a transaction
 * that writes, and each write outside of one, has two moments, before it and after it. `<KILL_FILE>.seen` lists them.
 */

type Method = (this: { readonly source?: string; readonly readonly?: boolean }, ...rest: unknown[]) => unknown;

const file = process.env.KILL_FILE ?? '';
let passed = 0;
let isWriting = false;

function pass(when: 'before' | 'after', sql: string): void {
  appendFileSync(`${file}.seen`, `${when} ${sql.replaceAll(/\s+/g, ' ')}\n`);
  passed += 1;
  if (passed === Number(readFileSync(file, 'utf8'))) process.kill(process.pid, 'SIGKILL');
}

function watch(holder: object, name: 'run' | 'get' | 'all' | 'exec'): void {
  const original = Reflect.get(holder, name) as Method;
  const watched: Method = function watched(...rest) {
    const sql = this.source ?? String(rest[0]);
    if (sql.startsWith('BEGIN IMMEDIATE')) isWriting = true;
    const isCounted = isWriting || (name !== 'exec' && this.readonly === false);
    if (!isCounted || !existsSync(file)) return original.apply(this, rest);
    pass('before', sql);
    const result = original.apply(this, rest);
    pass('after', sql);
    if (sql === 'COMMIT' || sql === 'ROLLBACK') isWriting = false;
    return result;
  };
  Object.defineProperty(holder, name, { value: watched });
}

const db = new SQLite(':memory:');
const statement = Object.getPrototypeOf(db.prepare('SELECT 1')) as object;
for (const name of ['run', 'get', 'all'] as const) watch(statement, name);
watch(SQLite.prototype as object, 'exec');
db.close();
