import type { TableTarget, Write } from '../rows.ts';
import type { AlikeUpdates } from '../sql/alike-updates.ts';
import type { BatchParts } from '../sql/batch.ts';
import { SqlParams } from '../sql/dialect.ts';
import type { ApplyDialect } from '../sql/queue/apply.ts';
import { tableSql } from '../sql/read.ts';
import type { Session } from '../sql/session.ts';
import { MYSQL_DIALECT } from './dialect.ts';
import { classify } from './failures.ts';
import { schemaDialect } from './schema/dialect.ts';
import { remember } from './system-tables.ts';
import { checkCurrent, planWrite, runQueued, send } from './write.ts';
import { currentSql } from './write-sql.ts';

export const MYSQL_BATCH: BatchParts = {
  dialect: MYSQL_DIALECT,
  runWrite: (session: Session, target: TableTarget, write: Write) => planWrite(target, write).run(session),
  runAlike,
  classify,
  remember,
};

export const MYSQL_QUEUES: ApplyDialect = {
  // The two flavours differ in their types of columns, and queues make no columns.
  schema: schemaDialect('mariadb'),
  runWrite: (session, { target, write }) => runQueued(session, target, write),
  classify,
};

const { quoted } = MYSQL_DIALECT;

async function runAlike(session: Session, updates: AlikeUpdates): Promise<readonly number[] | null> {
  const { target, key, columns, rows } = updates;
  const params = new SqlParams(MYSQL_DIALECT);
  const name = quoted(key.name);
  // Text is written from left to right, like its parameters.
  const changes = columns.map((column, place) => {
    const cases = rows.map((row) => {
      const when = params.value(key, row.key);
      return `WHEN ${when} THEN ${params.typed(column, row.values[place] ?? null)}`;
    });
    return `${quoted(column.name)} = CASE ${name} ${cases.join(' ')} END`;
  });
  const sql = `UPDATE ${tableSql(MYSQL_DIALECT, target)} SET ${changes.join(', ')} WHERE ${keyIn(updates, params)}`;
  const guarded = `${sql} AND ${currentSql(target, params)}`;
  const { affected } = await send(session, target, { sql: guarded, params: params.values });
  if (affected === rows.length) return rows.map(() => 1);
  if (affected === 0) {
    await checkCurrent(session, target);
    return rows.map(() => 0);
  }
  return matched(session, updates, affected);
}

function keyIn({ key, rows }: AlikeUpdates, params: SqlParams): string {
  return `${quoted(key.name)} IN (${rows.map((row) => params.value(key, row.key)).join(', ')})`;
}

/** Which rows exist; null if others have inserted one since, so that it cannot be known. */
async function matched(session: Session, updates: AlikeUpdates, affected: number): Promise<number[] | null> {
  const counts: number[] = [];
  for (const row of updates.rows) {
    const params = new SqlParams(MYSQL_DIALECT);
    const where = keyIn({ ...updates, rows: [row] }, params);
    const sql = `SELECT 1 FROM ${tableSql(MYSQL_DIALECT, updates.target)} WHERE ${where}`;
    counts.push((await send(session, updates.target, { sql, params: params.values })).rows.length);
  }
  return counts.reduce((sum, count) => sum + count, 0) === affected ? counts : null;
}
