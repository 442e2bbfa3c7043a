import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { type WatchedStatement, watchSql } from './watch-sql.ts';

/**
 * Preloaded into a program under test (`preloads.ts`): kills it by SIGKILL at one statement of SQLite. The file
 * that `KILL_FILE` names says at which moment; as long as it is absent nothing is counted. Each statement of a transaction
 * that writes, from its first statement to its end, and each write outside of one, has two moments, before it and after it.
 * Housekeeping of the sidecar has none. `<KILL_FILE>.seen` lists the moments.
 */

const file = process.env.KILL_FILE ?? '';
let passed = 0;
/** A transaction is `begun` until a statement in it shows whether it is counted. */
let transaction: 'none' | 'begun' | 'counted' = 'none';

/** Beats, leases, expired records and samples: they are written when a timer says so, which moves every number after them. */
const HOUSEKEEPING = /\b(_sidecars|_locks|_idempotency|chart_samples)\b/;
const HOUSEKEEPING_MARK = 'sidecar_keys:';

function isHousekeeping({ sql, values }: WatchedStatement): boolean {
  return HOUSEKEEPING.test(sql) || values.flat().some((value) => `${value}`.startsWith(HOUSEKEEPING_MARK));
}

function pass(when: 'before' | 'after', sql: string): void {
  appendFileSync(`${file}.seen`, `${when} ${sql.replaceAll(/\s+/g, ' ')}\n`);
  passed += 1;
  if (passed === Number(readFileSync(file, 'utf8'))) process.kill(process.pid, 'SIGKILL');
}

/** Follows the transactions also while nothing is counted. */
function isCounted(statement: WatchedStatement): boolean {
  const { sql, isWrite } = statement;
  if (sql.startsWith('BEGIN IMMEDIATE')) {
    transaction = 'begun';
    return false;
  }
  if (sql === 'COMMIT' || sql === 'ROLLBACK') {
    const wasCounted = transaction === 'counted';
    transaction = 'none';
    return wasCounted;
  }
  if (isHousekeeping(statement)) return false;
  if (transaction === 'begun') transaction = 'counted';
  return transaction === 'counted' || isWrite;
}

watchSql((statement, run) => {
  if (!isCounted(statement) || !existsSync(file)) return run();
  pass('before', statement.sql);
  const result = run();
  pass('after', statement.sql);
  return result;
});
