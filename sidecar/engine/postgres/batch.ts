import type { IdempotencySlot, TableTarget, Write } from '../rows.ts';
import type { AlikeUpdates } from '../sql/alike-updates.ts';
import type { BatchParts } from '../sql/batch.ts';
import { SqlParams } from '../sql/dialect.ts';
import type { ApplyDialect } from '../sql/queue/apply.ts';
import { tableSql } from '../sql/read.ts';
import type { Session } from '../sql/session.ts';
import { SlotTakenError } from '../sql/slots.ts';
import { arrayLiteral, POSTGRES_DIALECT, paramType, quoted } from './dialect.ts';
import { classify } from './failures.ts';
import { POSTGRES_SCHEMA } from './schema/dialect.ts';
import { checkCurrent, planMove, planWrite, runQueued } from './write.ts';

export const POSTGRES_BATCH: BatchParts = {
  dialect: POSTGRES_DIALECT,
  runWrite,
  runAlike,
  classify,
  remember,
};

export const POSTGRES_QUEUES: ApplyDialect = {
  schema: POSTGRES_SCHEMA,
  runWrite: (session, { target, write }) => runQueued(session, target, write),
  classify,
};

async function runWrite(session: Session, target: TableTarget, write: Write): Promise<string> {
  const result =
    (await planWrite(target, write, null).run(session)) ?? (await planMove(target, write, null).run(session));
  if (result === null) throw new Error('nothing was inserted, and nothing says why');
  return result;
}

/** Sends an array per column, so that the text is the same for any number of rows. */
async function runAlike(session: Session, { target, key, columns, rows }: AlikeUpdates): Promise<readonly number[]> {
  const params = new SqlParams(POSTGRES_DIALECT);
  const arrays = [key, ...columns].map((column, place) => {
    const values = rows.map((row) => (place === 0 ? row.key : (row.values[place - 1] ?? null)));
    return `${params.add(arrayLiteral(values))}::${paramType(column)}[]`;
  });
  const names = ['k', ...columns.map((_, place) => `v${place}`), 'n'].join(', ');
  const changes = columns.map(({ name }, place) => `${quoted(name)} = w.v${place}`).join(', ');
  const { namespace, revision } = target;
  const current = `EXISTS (SELECT FROM _schemas WHERE namespace = ${params.add(namespace)} AND revision = ${revision})`;
  const sql = `UPDATE ${tableSql(POSTGRES_DIALECT, target)} AS t SET ${changes}
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS w (${names})
    WHERE t.${quoted(key.name)} = w.k AND ${current} RETURNING w.n`;
  const changed = (await session.prepared(sql, params.values)).rows;
  if (changed.length === 0) await checkCurrent(session, target);
  const counts = rows.map(() => 0);
  for (const [number] of changed) counts[Number(number) - 1] = 1;
  return counts;
}

/** Waits for a running twin. */
async function remember(session: Session, slot: IdempotencySlot, result: string): Promise<void> {
  const { kid, namespace, key, fingerprint, now, expiresAt } = slot;
  const sql = `INSERT INTO _idempotency AS known (kid, namespace, key, fingerprint, result, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (kid, namespace, key) DO UPDATE
    SET fingerprint = EXCLUDED.fingerprint, result = EXCLUDED.result, expires_at = EXCLUDED.expires_at
    WHERE known.expires_at <= $7`;
  const { affected } = await session.prepared(sql, [kid, namespace, key, fingerprint, result, expiresAt, now]);
  if (affected === 0) throw new SlotTakenError();
}
