import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import SQLite from 'better-sqlite3';

/**
 * Preloaded into a sidecar under test (`NODE_OPTIONS=--import …`): kills it by SIGKILL, and none of the commands that it
 * starts, before a statement of SQLite that begins with the text in the file that `KILL_FILE` names.
 */

type Method = (this: { readonly source?: string }, ...rest: unknown[]) => unknown;

const file = process.env.KILL_FILE ?? '';
// A thread has arguments of its own, so those of the process are read.
const isCommand = readFileSync('/proc/self/cmdline', 'utf8').includes('\0backup\0');

function watch(holder: object, name: 'run' | 'get' | 'all' | 'exec'): void {
  const original = Reflect.get(holder, name) as Method;
  const watched: Method = function watched(...rest) {
    const sql = this.source ?? String(rest[0]);
    if (existsSync(file) && sql.startsWith(readFileSync(file, 'utf8'))) process.kill(process.pid, 'SIGKILL');
    return original.apply(this, rest);
  };
  Object.defineProperty(holder, name, { value: watched });
}

if (!isCommand) {
  const db = new SQLite(':memory:');
  const statement = Object.getPrototypeOf(db.prepare('SELECT 1')) as object;
  for (const name of ['run', 'get', 'all'] as const) watch(statement, name);
  watch(SQLite.prototype as object, 'exec');
  db.close();
}
