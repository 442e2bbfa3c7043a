import type { ConnectionOptions } from 'mysql2';
import { MysqlConnection } from './connection.ts';
import { CONNECT_TIMEOUT_MS } from './connection-options.ts';

/** Within `ms`, or rejects and destroys it: for the steps between its making and its use. */
export async function inTime<T>(connection: MysqlConnection, ms: number, step: Promise<T>): Promise<T> {
  const timer = setTimeout(() => connection.destroy(), ms);
  try {
    return await step;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a statement of another connection, through one made for that. */
export async function killQuery(options: ConnectionOptions, threadId: number, ms: number): Promise<void> {
  let side: MysqlConnection | null = null;
  const timer = setTimeout(() => side?.destroy(), Math.min(ms, CONNECT_TIMEOUT_MS));
  try {
    const opened = await MysqlConnection.open(options, (connection) => {
      side = connection;
    });
    await opened.query(`KILL QUERY ${threadId}`, undefined, { isKept: false, take: null });
  } finally {
    clearTimeout(timer);
    (side as MysqlConnection | null)?.destroy();
  }
}
