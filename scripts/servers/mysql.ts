import { chownSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { provideDebianRoot } from './debian-root.ts';
import type { EngineName, Installation, Place, Program, ServerUrls } from './engine.ts';
import { findProgram, folderInside, isRoot, runPrivately, serverAccount } from './private-command.ts';

export const name: EngineName = 'mysql';
export const urlVariable = 'TEST_MYSQL_URL';

export const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec'];

export function installationOf(root: string, server: string, install: string): Installation {
  return { root, programs: { server, install } };
}

/** MariaDB, or else MySQL, whose server makes its data folder itself. */
export async function provide(say: (line: string) => void): Promise<Installation> {
  const server = findProgram('mariadbd', SERVER_FOLDERS);
  const install = findProgram('mariadb-install-db', ['/usr/local/bin']);
  if (server !== null && install !== null) return installationOf('/', server, install);
  const mysqld = findProgram('mysqld', SERVER_FOLDERS);
  if (mysqld !== null) return installationOf('/', mysqld, mysqld);
  const root = await provideDebianRoot({ name, suite: null, packages: ['mariadb-server'] }, say);
  return installationOf(root, '/usr/sbin/mariadbd', '/usr/bin/mariadb-install-db');
}

/** Statements that the server runs as it starts, each time: kept in a private file, never on a command line. */
function setUpStatements({ password, adminPassword }: Place): string {
  const account = (user: string, secret: string): string =>
    `create user if not exists '${user}'@'127.0.0.1' identified by '${secret}';`;
  return [
    'create database if not exists sidecar;',
    account('sidecar', password),
    // Tests make databases of their own beside it.
    "grant all on `sidecar%`.* to 'sidecar'@'127.0.0.1';",
    account('admin', adminPassword),
    "grant all on *.* to 'admin'@'127.0.0.1' with grant option;",
    '',
  ].join('\n');
}

export async function prepare(place: Place): Promise<void> {
  const { installation, folder } = place;
  const inside = folderInside(installation, folder);
  // A server that starts removes temporary tables of others from its folder for them.
  const data = [`--datadir=${join(inside, 'data')}`, `--tmpdir=${inside}`];
  const install = `${installation.programs.install}`;
  // root gets in through the socket of the private folder only, and only as the account that the server runs as.
  const root = [
    '--auth-root-authentication-method=socket',
    `--auth-root-socket-user=${isRoot() ? 'nobody' : process.env.USER}`,
  ];
  const argv =
    basename(install) === 'mysqld'
      ? [install, '--no-defaults', '--initialize-insecure', ...data]
      : [install, '--no-defaults', '--basedir=/usr', '--skip-name-resolve', '--skip-test-db', ...data, ...root];
  await runPrivately(place, argv);
  const file = join(folder, 'set-up.sql');
  writeFileSync(file, setUpStatements(place), { mode: 0o600 });
  const account = serverAccount();
  if (account !== null) chownSync(file, account.uid, account.gid);
}

const HOSTILE: Readonly<Record<string, string>> = {
  character_set_server: 'latin1',
  collation_server: 'latin1_general_ci',
  default_time_zone: '+05:45',
  lc_time_names: 'de_DE',
  // Not strict; and these three change what a statement means.
  sql_mode: 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_AUTO_VALUE_ON_ZERO',
  autocommit: '0',
  explicit_defaults_for_timestamp: '0',
  transaction_isolation: 'READ-UNCOMMITTED',
  div_precision_increment: '0',
  group_concat_max_len: '4',
  auto_increment_increment: '7',
};

// Each commit still reaches the system before it is answered, so that a killed server loses nothing, only a machine would. What
// repairs pages that were half written stays on: kill -9 ends a write between the pages of the system, which are smaller.
const FAST = { innodb_flush_log_at_trx_commit: '2', sync_binlog: '0' };

function serverArgv(place: Place): string[] {
  const inside = folderInside(place.installation, place.folder);
  const all = {
    datadir: join(inside, 'data'),
    tmpdir: inside,
    socket: join(inside, 'mysql.sock'),
    pid_file: join(inside, 'mysql.pid'),
    init_file: join(inside, 'set-up.sql'),
    bind_address: '127.0.0.1',
    port: String(place.port),
    innodb_buffer_pool_size: '64M',
    max_connections: '300',
    ...(place.durable ? {} : FAST),
    ...(place.hostile ? HOSTILE : {}),
    ...place.settings,
  };
  const flags = Object.entries(all).map(([key, value]) => `--${key}=${value}`);
  return [`${place.installation.programs.server}`, '--no-defaults', '--skip-name-resolve', ...flags];
}

async function answers(place: Place): Promise<boolean> {
  const connection = await createConnection({ uri: urls(place).url, connectTimeout: 2_000 });
  await connection.end();
  return true;
}

export function programs(place: Place): readonly Program[] {
  return [
    {
      name: 'mysql',
      argv: serverArgv(place),
      stopSignal: 'SIGTERM',
      discardSignal: 'SIGKILL',
      isReady: () => answers(place),
    },
  ];
}

export function urls({ port, password, adminPassword }: Place): ServerUrls {
  return {
    url: `mysql://sidecar:${password}@127.0.0.1:${port}/sidecar`,
    adminUrl: `mysql://admin:${adminPassword}@127.0.0.1:${port}/mysql`,
  };
}
