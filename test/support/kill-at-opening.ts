import process from 'node:process';
import { watchSql } from './watch-sql.ts';

/**
 * Preloaded into a program under test (`preloads.ts`): kills it by SIGKILL when a mark of SQLite is deleted for
 * good, the first whose name is that of `KILL_MARK`.
 */

const mark = process.env.KILL_MARK ?? '';
let isDeleted = false;

watchSql(({ sql, values }, run) => {
  const result = run();
  if (sql.startsWith('DELETE FROM _meta') && JSON.stringify(values).includes(`"${mark}"`)) isDeleted = true;
  if (sql.startsWith('INSERT INTO _meta')) isDeleted = false;
  if (sql === 'COMMIT' && isDeleted) process.kill(process.pid, 'SIGKILL');
  return result;
});
