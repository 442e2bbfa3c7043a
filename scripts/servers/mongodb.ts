// `mongod` if the machine has it; else FerretDB above a PostgreSQL with the extension DocumentDB, which speaks the same
// wire protocol (contract section 10). Neither asks for a password: they are throw-away servers on the loopback.
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { provideDebianRoot, usableSource } from './debian-root.ts';
import type { EngineName, Installation, Place, Program, ServerUrls } from './engine.ts';
import { provideFerretdb } from './ferretdb-program.ts';
import * as postgres from './postgres.ts';
import { findProgram, folderInside, serverAccount } from './private-command.ts';

export const name: EngineName = 'mongodb';
export const urlVariable = 'TEST_MONGODB_URL';

const DOCUMENTDB_SETTINGS: Readonly<Record<string, string>> = {
  // The socket in the private folder is its only door.
  listen_addresses: '',
  shared_preload_libraries: 'pg_cron,pg_documentdb_core,pg_documentdb',
  'cron.database_name': 'postgres',
  'cron.use_background_workers': 'on',
  max_worker_processes: '16',
};

export async function provide(say: (line: string) => void): Promise<Installation> {
  const mongod = findProgram('mongod');
  if (mongod !== null) return { root: '/', programs: { mongod } };
  // At the same time: packages mostly wait for the network, compiling for the processor.
  // Before the long steps begin.
  usableSource();
  const steps = [
    provideDebianRoot({ name, suite: 'sid', packages: ['postgresql-18-documentdb'] }, say),
    provideFerretdb(say),
  ] as const;
  // If one fails, the other still ends in good order.
  await Promise.allSettled(steps);
  const [root, ferretdb] = await Promise.all(steps);
  const { programs: postgresPrograms } = postgres.installationIn(root);
  return { root, programs: { ...postgresPrograms, ferretdb } };
}

async function makeFolder(folder: string): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  const account = serverAccount();
  if (account !== null) await chown(folder, account.uid, account.gid);
}

export async function prepare(place: Place): Promise<void> {
  const { ferretdb } = place.installation.programs;
  if (ferretdb === undefined) return makeFolder(join(place.folder, 'data'));
  // The cache is the user's own; the account that servers run as cannot look into it.
  copyFileSync(ferretdb, join(place.folder, 'ferretdb'));
  chmodSync(join(place.folder, 'ferretdb'), 0o755);
  await makeFolder(join(place.folder, 'state'));
  await postgres.prepare({ ...place, hostile: false });
}

async function answers(place: Place): Promise<boolean> {
  const client = new MongoClient(urls(place).url, { serverSelectionTimeoutMS: 1_000 });
  try {
    await client.db('sidecar').command({ ping: 1 });
    return true;
  } finally {
    await client.close();
  }
}

function mongod(place: Place): Program {
  const inside = folderInside(place.installation, place.folder);
  const settings = Object.entries(place.settings).flatMap(([key, value]) => ['--setParameter', `${key}=${value}`]);
  const address = ['--bind_ip', '127.0.0.1', '--port', String(place.port), '--nounixsocket'];
  return {
    name: 'mongod',
    argv: [`${place.installation.programs.mongod}`, '--dbpath', join(inside, 'data'), ...address, ...settings],
    stopSignal: 'SIGTERM',
    discardSignal: 'SIGKILL',
    isReady: () => answers(place),
  };
}

function documentdb(place: Place): Program {
  // The extension calls itself to make collections, on TCP by default: at this port it would meet FerretDB, and wait.
  const inside = folderInside(place.installation, place.folder);
  return {
    name: 'documentdb',
    argv: postgres.serverArgv(place, {
      ...DOCUMENTDB_SETTINGS,
      'documentdb.localhost_connection_string': `host=${inside} user=admin`,
    }),
    stopSignal: 'SIGINT',
    // DocumentDB's own indexes do not survive every crash: an insert then ends the whole server, again and again.
    killSignal: 'SIGINT',
    discardSignal: 'SIGQUIT',
    isReady: () => postgres.answers(place),
    onFirstReady: () => postgres.asAdmin(place, ['create extension documentdb cascade']),
  };
}

function ferretdb(place: Place): Program {
  const inside = folderInside(place.installation, place.folder);
  return {
    name: 'ferretdb',
    argv: [join(inside, 'ferretdb')],
    env: {
      FERRETDB_POSTGRESQL_URL: `postgres://admin@/postgres?host=${inside}&port=${place.port}`,
      FERRETDB_LISTEN_ADDR: `127.0.0.1:${place.port}`,
      FERRETDB_STATE_DIR: join(inside, 'state'),
    },
    stopSignal: 'SIGTERM',
    discardSignal: 'SIGKILL',
    isReady: () => answers(place),
  };
}

export function programs(place: Place): readonly Program[] {
  return place.installation.programs.mongod === undefined ? [documentdb(place), ferretdb(place)] : [mongod(place)];
}

export function urls({ port }: Place): ServerUrls {
  const url = `mongodb://127.0.0.1:${port}/sidecar`;
  return { url, adminUrl: url };
}
