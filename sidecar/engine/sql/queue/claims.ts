import { withWork } from '#engine/model/queue-units.ts';
import { IdempotencyConflictError } from '#engine/model/remembered-answer.ts';
import { claimKey, type KnownRecord, outcomeOfClaim } from '#engine/model/slot-claims.ts';
import type { QueuedEntry, SlotClaim } from '#engine/queues.ts';
import type { SchemaConnection } from '../schema/connection.ts';
import type { SqlParam } from '../session.ts';

/** Keys of one statement. */
const CLAIMS_AT_ONCE = 200;
const COLUMNS = ['kid', 'namespace', 'key', 'fingerprint', 'result', 'expires_at'];

/**
 * Takes the idempotency slots of entries in the transaction that applies them. Returns the entries that are left: without
 * those that a live write, or the queue of another sidecar, has done; with an error for a key of another payload. Waits for
 * a transaction that takes one of the slots at the same time.
 */
export async function claimSlots(
  connection: SchemaConnection,
  entries: readonly QueuedEntry[],
): Promise<QueuedEntry[]> {
  const claims = new Map<string, SlotClaim>();
  for (const { claim } of entries) if (claim && !claims.has(claimKey(claim))) claims.set(claimKey(claim), claim);
  if (claims.size === 0) return [...entries];
  const records = new Map<string, KnownRecord>();
  const all = [...claims.values()];
  for (let from = 0; from < all.length; from += CLAIMS_AT_ONCE) {
    await takeSome(connection, all.slice(from, from + CLAIMS_AT_ONCE), records);
  }
  return entries.flatMap((entry): QueuedEntry[] => {
    const record = entry.claim && records.get(claimKey(entry.claim));
    const outcome = entry.claim && record ? outcomeOfClaim(entry.claim, record) : 'own';
    if (outcome === 'done') return [];
    return [outcome === 'conflict' ? withWork(entry, new IdempotencyConflictError()) : entry];
  });
}

async function takeSome(
  connection: SchemaConnection,
  claims: readonly SlotClaim[],
  records: Map<string, KnownRecord>,
): Promise<void> {
  const places = claims.map(() => '(?, ?, ?, ?, ?, ?)').join(', ');
  const into = `INSERT INTO _idempotency (${connection.list(COLUMNS)}) VALUES ${places}`;
  await connection.run(`${into} ${connection.dialect.keepSql('kid', 'namespace', 'key')}`, claims.flatMap(rowOf));
  for (const [kid, own] of Map.groupBy(claims, ({ slot }) => slot.kid)) {
    const namespace = own[0]?.slot.namespace ?? '';
    const keys = own.map(({ slot }) => slot.key);
    const list = keys.map(() => '?').join(', ');
    const sql = `SELECT ${connection.list(COLUMNS.slice(2))} FROM _idempotency
      WHERE namespace = ? AND kid = ? AND ${connection.quoted('key')} IN (${list})`;
    const found = await connection.rows(sql, [namespace, kid, ...keys]);
    const byKey = new Map(found.map((row) => [String(row[0]), row]));
    for (const claim of own) {
      const [, fingerprint, result, expiresAt] = byKey.get(claim.slot.key) ?? [];
      const record = { fingerprint: String(fingerprint), result: String(result), expiresAt: Number(expiresAt) };
      if (record.expiresAt <= claim.slot.now && record.result !== claim.answer) {
        records.set(claimKey(claim), await replaceExpired(connection, claim));
      } else records.set(claimKey(claim), record);
    }
  }
}

function rowOf({ slot, answer }: SlotClaim): SqlParam[] {
  const { kid, namespace, key, fingerprint, expiresAt } = slot;
  return [kid, namespace, key, fingerprint, answer, BigInt(expiresAt)];
}

/** The insert holds a lock on the record. */
async function replaceExpired(connection: SchemaConnection, { slot, answer }: SlotClaim): Promise<KnownRecord> {
  const { kid, namespace, key, fingerprint, expiresAt } = slot;
  const place = `kid = ? AND namespace = ? AND ${connection.quoted('key')} = ?`;
  await connection.run(`UPDATE _idempotency SET fingerprint = ?, result = ?, expires_at = ? WHERE ${place}`, [
    fingerprint,
    answer,
    BigInt(expiresAt),
    kid,
    namespace,
    key,
  ]);
  return { fingerprint, result: answer, expiresAt };
}
