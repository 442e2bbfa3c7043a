import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { ApiError } from '#protocol/errors.ts';

/** Time limit for waiting for another change of the namespace in another process. */
const TURN_WAIT_SECONDS = 3;
/**
 * Time limit for waiting for a table. Longer than any statement of a sidecar (contract section 2), and short, because
 * all other users of the table wait behind it.
 */
const TABLE_WAIT_SECONDS = 5;

const TURN = "CONCAT('sidecar.', LEFT(SHA2(CONCAT(DATABASE(), ' ', ?), 256), 40))";

/**
 * Runs work under the lease of a namespace while this server runs no statement of an earlier holder, who may be dead: the
 * server keeps the turn for a connection until its last statement has ended. Other nodes of a cluster know nothing of it;
 * there the lease and the names of tables (`away.ts`) are the protection.
 */
export async function inTurn<T>(connection: SchemaConnection, namespace: string, work: () => Promise<T>): Promise<T> {
  const isHeld = await connection.number(`SELECT GET_LOCK(${TURN}, ${TURN_WAIT_SECONDS})`, [namespace]);
  if (isHeld !== 1) {
    throw new ApiError('sync_in_progress', `a schema sync of namespace ${namespace} is running; try again`);
  }
  try {
    await connection.run('SET @sidecar_wait = @@SESSION.lock_wait_timeout');
    await connection.run(`SET SESSION lock_wait_timeout = ${TABLE_WAIT_SECONDS}`);
    return await work();
  } finally {
    await quietly(() => connection.run('SET SESSION lock_wait_timeout = @sidecar_wait'));
    await quietly(() => connection.run(`DO RELEASE_LOCK(${TURN})`, [namespace]));
  }
}

/** Transaction for changes of rows only: a schema statement would commit it. */
export async function inTransaction<T>(connection: SchemaConnection, work: () => Promise<T>): Promise<T> {
  await connection.run('START TRANSACTION');
  try {
    const result = await work();
    await connection.run('COMMIT');
    return result;
  } catch (error) {
    await quietly(() => connection.run('ROLLBACK'));
    throw error;
  }
}

/** Ignores a failure of work that ends with the connection anyway, so that it does not hide an earlier failure. */
async function quietly(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch {
    // The connection is gone, or its time is over: it is not used again, and the server releases what it held.
  }
}
