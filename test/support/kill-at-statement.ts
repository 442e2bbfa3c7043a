import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { watchSql } from './watch-sql.ts';

/**
 * Preloaded into a program under test (`NODE_OPTIONS=--import …`): kills it by SIGKILL at one statement of SQLite. The file
 * that `KILL_FILE` names says at which moment; as long as it is absent nothing is counted. Each statement of a transaction
 * that writes, and each write outside of one, has two moments, before it and after it. `<KILL_FILE>.seen` lists them.
 */

const file = process.env.KILL_FILE ?? '';
let passed = 0;
let isWriting = false;

function pass(when: 'before' | 'after', sql: string): void {
  appendFileSync(`${file}.seen`, `${when} ${sql.replaceAll(/\s+/g, ' ')}\n`);
  passed += 1;
  if (passed === Number(readFileSync(file, 'utf8'))) process.kill(process.pid, 'SIGKILL');
}

watchSql(({ sql, isWrite }, run) => {
  if (sql.startsWith('BEGIN IMMEDIATE')) isWriting = true;
  if (!(isWriting || isWrite) || !existsSync(file)) return run();
  pass('before', sql);
  const result = run();
  pass('after', sql);
  if (sql === 'COMMIT' || sql === 'ROLLBACK') isWriting = false;
  return result;
});
