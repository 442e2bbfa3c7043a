import process from 'node:process';
import SQLite from 'better-sqlite3';

/**
 * Preloaded into a program under test (`NODE_OPTIONS=--import …`): kills it by SIGKILL when a mark of SQLite is deleted for
 * good, the first whose name is that of `KILL_MARK`.
 */

type Method = (this: { readonly source?: string }, ...rest: unknown[]) => unknown;

const mark = process.env.KILL_MARK ?? '';
let isDeleted = false;

function watch(holder: object, name: 'run' | 'get' | 'all' | 'exec'): void {
  const original = Reflect.get(holder, name) as Method;
  const watched: Method = function watched(...rest) {
    const sql = this.source ?? String(rest[0]);
    const result = original.apply(this, rest);
    if (sql.startsWith('DELETE FROM _meta') && JSON.stringify(rest).includes(`"${mark}"`)) isDeleted = true;
    if (sql.startsWith('INSERT INTO _meta')) isDeleted = false;
    if (sql === 'COMMIT' && isDeleted) process.kill(process.pid, 'SIGKILL');
    return result;
  };
  Object.defineProperty(holder, name, { value: watched });
}

const db = new SQLite(':memory:');
const statement = Object.getPrototypeOf(db.prepare('SELECT 1')) as object;
for (const name of ['run', 'get', 'all'] as const) watch(statement, name);
watch(SQLite.prototype, 'exec');
db.close();
