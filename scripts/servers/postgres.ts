import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { provideDebianRoot } from './debian-root.ts';
import type { EngineName, Installation, Place, Program, ServerUrls } from './engine.ts';
import { findProgram, folderInside, runPrivately } from './private-command.ts';

export const name: EngineName = 'postgres';
export const urlVariable = 'TEST_POSTGRES_URL';

const VERSIONS = '/usr/lib/postgresql';

/** Debian keeps the programs of each version in a folder of its own. */
function versionFolders(root: string): string[] {
  const folder = join(root, VERSIONS);
  const versions = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(VERSIONS, version, 'bin'));
}

/** Installation of PostgreSQL in a Debian root. */
export function installationIn(root: string): Installation {
  const bin = versionFolders(root)[0];
  if (bin === undefined) throw new Error('its packages hold no server');
  const programs = {
    postgres: join(bin, 'postgres'),
    initdb: join(bin, 'initdb'),
    basebackup: join(bin, 'pg_basebackup'),
  };
  return { root, programs };
}

export async function provide(say: (line: string) => void): Promise<Installation> {
  const postgres = findProgram('postgres', versionFolders('/'));
  // `postgres` may be a link of its own; `initdb` need not lie beside the link.
  const initdb = findProgram('initdb', [...(postgres === null ? [] : [dirname(postgres)]), ...versionFolders('/')]);
  const basebackup = findProgram('pg_basebackup', versionFolders('/'));
  if (postgres !== null && initdb !== null) {
    return { root: '/', programs: { postgres, initdb, ...(basebackup === null ? {} : { basebackup }) } };
  }
  const root = await provideDebianRoot({ name, suite: null, packages: ['postgresql'] }, say);
  return installationIn(root);
}

export async function prepare(place: Place): Promise<void> {
  const { installation, folder } = place;
  const inside = folderInside(installation, folder);
  // Ordered by a language's rules instead of by code points, which is what an owner's server usually does.
  const locale = place.hostile ? ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C'] : ['--locale=C'];
  const accounts = ['--username=admin', '--auth-local=trust', '--auth-host=scram-sha-256'];
  const argv = [
    `${installation.programs.initdb}`,
    '-D',
    join(inside, 'data'),
    '--encoding=UTF8',
    '--no-sync',
    ...accounts,
    ...locale,
  ];
  await runPrivately(place, argv);
}

/** Settings of the role, so that every session begins with them, no matter how the server was set up. */
const HOSTILE_ROLE_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: '250ms',
  TimeZone: 'Asia/Kathmandu',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-3',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  default_transaction_isolation: 'serializable',
};

// Each commit still reaches the system before it is answered, so that a killed server loses nothing, only a machine would. What
// repairs pages that were half written stays on: kill -9 ends a write between the pages of the system, which are smaller.
const FAST = { fsync: 'off' };

export function serverArgv(place: Place, settings: Readonly<Record<string, string>>): string[] {
  const inside = folderInside(place.installation, place.folder);
  const all = {
    unix_socket_directories: inside,
    // Files of the data folder: nothing stays in the system after a kill.
    dynamic_shared_memory_type: 'mmap',
    shared_buffers: '64MB',
    max_connections: '200',
    ...(place.durable ? {} : FAST),
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  return [`${place.installation.programs.postgres}`, '-D', join(inside, 'data'), '-p', String(place.port), ...flags];
}

/** As the administrator, through the socket in the private folder. */
export async function asAdmin(place: Place, statements: readonly string[]): Promise<void> {
  const client = new Client({ host: place.folder, port: place.port, user: 'admin', database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

export async function answers(place: Place): Promise<boolean> {
  await asAdmin(place, ['select 1']);
  return true;
}

function setUp(place: Place): Promise<void> {
  const role = place.hostile ? HOSTILE_ROLE_SETTINGS : {};
  return asAdmin(place, [
    `alter role admin password '${place.adminPassword}'`,
    `create role sidecar login createdb password '${place.password}'`,
    'create database sidecar owner sidecar',
    ...Object.entries(role).map(([key, value]) => `alter role sidecar set ${key} = '${value}'`),
  ]);
}

/**
 * A killed PostgreSQL leaves a small segment of shared memory for its next start to find; its lock file names it in line 7. One in
 * a Debian of ours had a namespace of its own, which is gone.
 */
export async function removeSegment({ installation, folder }: Place): Promise<void> {
  const lockFile = join(folder, 'data', 'postmaster.pid');
  if (installation.root !== '/' || !existsSync(lockFile)) return;
  const segment = readFileSync(lockFile, 'utf8').split('\n')[6]?.trim().split(/\s+/)[1];
  if (segment !== undefined) await promisify(execFile)('ipcrm', ['-m', segment]).catch(() => {});
}

export function programs(place: Place): readonly Program[] {
  return [
    {
      name: 'postgres',
      argv: serverArgv(place, { listen_addresses: '127.0.0.1', ...place.settings }),
      stopSignal: 'SIGINT',
      discardSignal: 'SIGQUIT',
      isReady: () => answers(place),
      // A process that was being made when the server was killed ends by itself, a moment later.
      isPassing: (reason) => reason.includes('pre-existing shared memory block'),
      onFirstReady: () => setUp(place),
      onDiscarded: () => removeSegment(place),
    },
  ];
}

export function urls({ port, password, adminPassword }: Place): ServerUrls {
  return {
    url: `postgres://sidecar:${password}@127.0.0.1:${port}/sidecar`,
    adminUrl: `postgres://admin:${adminPassword}@127.0.0.1:${port}/postgres`,
  };
}
