import { randomUUID } from 'node:crypto';
import {
  type ClusterCalls,
  keyOfNonce,
  type LeaseRow,
  type NonceClaim,
  type RevokedKey,
  type SidecarRow,
} from '#engine/cluster/cluster-calls.ts';
import { SchemaConnection, type SchemaDialect } from './schema/connection.ts';
import type { Session, Sessions } from './session.ts';

/** The rows of `_sidecars`, `_locks` and `_revoked` in a relational engine. */
export function createClusterCalls(sessions: Sessions, dialectOf: () => SchemaDialect): ClusterCalls {
  const of = (session: Session) => new SchemaConnection(session, dialectOf());
  return {
    listSidecars: (bounds) => sessions.read(bounds, (session) => sidecarsWhere(of(session), '', [])),
    putSidecar: (row, from, bounds) => sessions.write(bounds, (session) => putSidecar(of(session), row, from)),
    dropSidecar: ({ instance, seenAt }, bounds) =>
      sessions.write(bounds, async (session) => {
        await of(session).run('DELETE FROM _sidecars WHERE instance = ? AND seen_at = ?', [instance, seenAt]);
      }),
    listLeases: (bounds) => sessions.read(bounds, (session) => leasesWhere(of(session), '', [])),
    readLease: (name, bounds) => sessions.read(bounds, (session) => readLease(of(session), name)),
    takeLease: (row, from, bounds) => sessions.write(bounds, (session) => takeLease(of(session), row, from)),
    renewLease: (row, bounds) => sessions.write(bounds, (session) => renewLease(of(session), row)),
    dropLease: ({ name, owner }, bounds) =>
      sessions.write(bounds, async (session) => {
        await of(session).run('DELETE FROM _locks WHERE namespace = ? AND owner = ?', [name, owner]);
      }),
    listRevoked: (bounds) => sessions.read(bounds, (session) => listRevoked(of(session))),
    revokeKey: (key, bounds) => sessions.write(bounds, (session) => revokeKey(of(session), key)),
    claimNonce(claim, bounds) {
      const mark = JSON.stringify(randomUUID());
      return sessions.write(bounds, (session) => claimNonce(of(session), claim, mark));
    },
  };
}

const SIDECAR_COLUMNS = ['instance', 'box', 'url', 'version', 'seen_at'];

async function sidecarsWhere(
  connection: SchemaConnection,
  where: string,
  params: readonly string[],
): Promise<SidecarRow[]> {
  const columns = connection.list(SIDECAR_COLUMNS);
  const rows = await connection.rows(`SELECT ${columns} FROM _sidecars ${where} ORDER BY instance`, params);
  return rows.map(([instance, box, url, version, seenAt]) => ({
    instance: String(instance),
    box: String(box),
    url: String(url),
    version: String(version),
    seenAt: Number(seenAt),
  }));
}

async function putSidecar(connection: SchemaConnection, row: SidecarRow, from: number | null): Promise<boolean> {
  const { instance, box, url, version, seenAt } = row;
  if (from !== null) {
    const sets = SIDECAR_COLUMNS.slice(1).map((name) => `${connection.quoted(name)} = ?`);
    const update = `UPDATE _sidecars SET ${sets.join(', ')} WHERE instance = ? AND seen_at = ?`;
    return (await connection.run(update, [box, url, version, seenAt, instance, from])) > 0;
  }
  const into = `INSERT INTO _sidecars (${connection.list(SIDECAR_COLUMNS)}) VALUES (?, ?, ?, ?, ?)`;
  await connection.run(`${into} ${connection.dialect.keepSql('instance')}`, [instance, box, url, version, seenAt]);
  // Servers count a row that was left alone in different ways.
  const [present] = await sidecarsWhere(connection, 'WHERE instance = ?', [instance]);
  return present?.seenAt === seenAt;
}

const LEASE_COLUMNS = 'namespace, owner, renewed_at';

async function leasesWhere(
  connection: SchemaConnection,
  where: string,
  params: readonly string[],
): Promise<LeaseRow[]> {
  const rows = await connection.rows(`SELECT ${LEASE_COLUMNS} FROM _locks ${where}`, params);
  return rows.map(([name, owner, renewedAt]) => ({
    name: String(name),
    owner: String(owner),
    renewedAt: Number(renewedAt),
  }));
}

async function readLease(connection: SchemaConnection, name: string): Promise<LeaseRow | null> {
  return (await leasesWhere(connection, 'WHERE namespace = ?', [name]))[0] ?? null;
}

async function takeLease(connection: SchemaConnection, row: LeaseRow, from: LeaseRow | null): Promise<boolean> {
  const { name, owner, renewedAt } = row;
  if (from !== null) {
    const update = `UPDATE _locks SET owner = ?, renewed_at = ? WHERE namespace = ? AND owner = ? AND renewed_at = ?`;
    return (await connection.run(update, [owner, renewedAt, name, from.owner, from.renewedAt])) > 0;
  }
  const insert = `INSERT INTO _locks (${LEASE_COLUMNS}) VALUES (?, ?, ?) ${connection.dialect.keepSql('namespace')}`;
  await connection.run(insert, [name, owner, renewedAt]);
  return (await readLease(connection, name))?.owner === owner;
}

/** Also the fence of a change, inside its transaction: a sidecar that takes the lease meanwhile waits, or one of the two fails. */
export async function renewLease(connection: SchemaConnection, { name, owner, renewedAt }: LeaseRow): Promise<boolean> {
  const update = 'UPDATE _locks SET renewed_at = ? WHERE namespace = ? AND owner = ?';
  return (await connection.run(update, [renewedAt, name, owner])) > 0;
}

async function listRevoked(connection: SchemaConnection): Promise<RevokedKey[]> {
  const rows = await connection.rows('SELECT kid, revoked_at FROM _revoked ORDER BY kid', []);
  return rows.map(([kid, revokedAt]) => ({ kid: String(kid), revokedAt: Number(revokedAt) }));
}

async function revokeKey(connection: SchemaConnection, { kid, revokedAt }: RevokedKey): Promise<void> {
  const insert = 'INSERT INTO _revoked (kid, revoked_at) VALUES (?, ?)';
  await connection.run(`${insert} ${connection.dialect.keepSql('kid')}`, [kid, revokedAt]);
}

const NONCE_COLUMNS = ['kid', 'namespace', 'key', 'fingerprint', 'result', 'expires_at'];

async function claimNonce(connection: SchemaConnection, claim: NonceClaim, mark: string): Promise<boolean> {
  const { kid, namespace, fingerprint, expiresAt } = claim;
  const key = keyOfNonce(claim);
  const into = `INSERT INTO _idempotency (${connection.list(NONCE_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)`;
  const keep = connection.dialect.keepSql('kid', 'namespace', 'key');
  await connection.run(`${into} ${keep}`, [kid, namespace, key, fingerprint, mark, expiresAt]);
  const sql = `SELECT result FROM _idempotency WHERE kid = ? AND namespace = ? AND ${connection.quoted('key')} = ?`;
  const [row] = await connection.rows(sql, [kid, namespace, key]);
  return row?.[0] === mark;
}
