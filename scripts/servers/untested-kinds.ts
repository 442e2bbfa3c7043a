import { createConnection } from 'mysql2/promise';
import { provideLua } from './lua-program.ts';
import type { TestServers } from './start-servers.ts';
import { provideStrace } from './strace-program.ts';

/** Databases that the sidecar serves and that none of these servers is, with the reason: for the end of a run. */
export async function untestedKinds(servers: TestServers): Promise<ReadonlyMap<string, string>> {
  const url = servers.mysql?.url;
  if (url === undefined) return new Map();
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query('SELECT VERSION() AS version');
    const { version } = (rows as { version: string }[])[0] ?? { version: '' };
    const isMariaDb = version.includes('MariaDB');
    const [other, ran] = isMariaDb ? ['MySQL', 'MariaDB'] : ['MariaDB', 'MySQL'];
    return new Map([[other, `${ran} ${/^[\d.]+/.exec(version)?.[0] ?? ''} ran as mysql`]]);
  } finally {
    await connection.end();
  }
}

/** Where system calls cannot be made to fail, with the reason: the faults of the journal's disk are skipped then. */
export async function untestedFaults(): Promise<ReadonlyMap<string, string>> {
  try {
    await provideStrace(() => {});
    return new Map();
  } catch (error) {
    return new Map([['disk', error instanceof Error ? error.message : String(error)]]);
  }
}

/** Where there is no Lua 5.4, with the reason: the helper for Lua is skipped then. */
export async function untestedLua(): Promise<ReadonlyMap<string, string>> {
  try {
    await provideLua(() => {});
    return new Map();
  } catch (error) {
    return new Map([['lua', error instanceof Error ? error.message : String(error)]]);
  }
}
