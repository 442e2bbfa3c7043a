import { rmSync, writeFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Place, ServerEngine } from '#scripts/servers/engine.ts';
import * as postgres from '#scripts/servers/postgres.ts';
import { folderInside, runPrivately, serverAccount } from '#scripts/servers/private-command.ts';
import { PrivateServer } from '#scripts/servers/private-server.ts';
import { groupFolder, groupPasswords, nodePlace } from './node-place.ts';

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  readonly server: PrivateServer;
  /** Runs statements as the administrator; the rows of the last one. */
  admin(...statements: readonly string[]): Promise<readonly unknown[][]>;
}

/** A primary and a standby that follows it. */
export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** URL of both, in this order. */
  urlOf(database: string, ...servers: readonly PostgresServer[]): string;
  /** Makes the standby, or the given server, a primary of its own; resolves when it takes writes. */
  promote(server?: PostgresServer): Promise<void>;
  /** Throws the data of a server away, and makes it the standby of the other one. */
  rebuild(server: PostgresServer): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD_FILE = 'primary.pgpass';

/** A copy of the running primary, which goes on following it. */
function standbyEngine(primary: Place): ServerEngine {
  return {
    ...postgres,
    async prepare(place) {
      const inside = folderInside(place.installation, place.folder);
      const file = join(place.folder, PASSWORD_FILE);
      writeFileSync(file, `127.0.0.1:${primary.port}:*:admin:${place.adminPassword}\n`, { mode: 0o600 });
      const account = serverAccount();
      if (account !== null) await chown(file, account.uid, account.gid);
      const source = `host=127.0.0.1 port=${primary.port} user=admin passfile=${join(inside, PASSWORD_FILE)}`;
      const program = `${place.installation.programs.basebackup}`;
      const target = ['-D', join(inside, 'data'), '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
      await runPrivately(place, [program, '-d', `${source} application_name=standby`, ...target]);
    },
    // Accounts are those of the primary.
    programs: (place) => postgres.programs(place).map(({ onFirstReady: _made, ...program }) => program),
  };
}

/** Both on the loopback. A commit waits for the standby if `isSynchronous`. */
export async function startPostgresPair({ isSynchronous = false } = {}): Promise<PostgresPair> {
  const installation = await postgres.provide(() => {});
  const folder = groupFolder();
  const passwords = groupPasswords();
  const place = (name: string, settings: Readonly<Record<string, string>>): Promise<Place> =>
    nodePlace(folder, name, installation, passwords, { max_connections: '60', shared_buffers: '32MB', ...settings });
  const [first, second] = [await place('primary', {}), await place('standby', {})];
  const servers: PrivateServer[] = [];
  const begin = async (engine: ServerEngine, at: Place): Promise<PrivateServer> => {
    const server = new PrivateServer(engine, at, () => {});
    servers.push(server);
    await engine.prepare(at);
    await server.start();
    return server;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.discard()));
  };
  try {
    const primary = serverOf(first, await begin(postgres, first));
    const standby = serverOf(second, await begin(standbyEngine(first), second));
    if (isSynchronous) await waitForStandby(primary);
    return {
      primary,
      standby,
      urlOf: (database, ...list) => listUrl(list, database),
      async promote(server = standby) {
        await server.admin('SELECT pg_promote(true, 30)');
      },
      async rebuild(server) {
        const [own, other, source] = server === primary ? [first, second, standby] : [second, first, primary];
        await server.server.kill();
        await postgres.removeSegment(own);
        rmSync(join(own.folder, 'data'), { recursive: true });
        await standbyEngine(other).prepare(own);
        await server.server.start();
        if (isSynchronous) await waitForStandby(source);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** From now on each commit waits for the standby. */
async function waitForStandby(primary: PostgresServer): Promise<void> {
  await primary.admin("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)'", 'SELECT pg_reload_conf()');
  const state = "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'";
  while ((await primary.admin(state))[0]?.[0] !== 'quorum') await wait(20);
}

function serverOf(place: Place, server: PrivateServer): PostgresServer {
  const { url, adminUrl } = postgres.urls(place);
  return {
    url,
    port: place.port,
    server,
    async admin(...statements) {
      const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 3000 });
      // A server may end while it is asked.
      client.on('error', () => {});
      await client.connect();
      try {
        let rows: readonly unknown[][] = [];
        for (const text of statements) ({ rows } = await client.query({ text, rowMode: 'array' }));
        return rows;
      } finally {
        await client.end();
      }
    },
  };
}

function listUrl(servers: readonly PostgresServer[], database: string): string {
  const { username, password } = new URL(`${servers[0]?.url}`);
  return `postgres://${username}:${password}@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${database}`;
}
