// MySQL itself. The engine `mysql` of the tests is MariaDB if it can be had.
import { provideDebianRoot } from './debian-root.ts';
import type { EngineName, Installation, Place, Program } from './engine.ts';
import * as mysql from './mysql.ts';
import { findProgram } from './private-command.ts';

export const name: EngineName = 'mysql9';
export const urlVariable = 'TEST_MYSQL9_URL';

export async function provide(say: (line: string) => void): Promise<Installation> {
  const mysqld = findProgram('mysqld', mysql.SERVER_FOLDERS);
  if (mysqld !== null) return mysql.installationOf('/', mysqld, mysqld);
  const root = await provideDebianRoot(
    { name: 'mysql-server', suite: 'sid', packages: ['mysql-server-core', 'mysql-client-core'] },
    say,
  );
  return mysql.installationOf(root, '/usr/sbin/mysqld', '/usr/sbin/mysqld');
}

export const prepare = mysql.prepare;

/** A second protocol and its port, figures about itself, which cost memory and time, and a folder that its package makes. */
const WITHOUT = { mysqlx: 'OFF', performance_schema: 'OFF', secure_file_priv: 'NULL' };

/** Only administrators may change it in a session, and cases of the contract count on ids without gaps. */
const COUNTED = { auto_increment_increment: '1' };

export function programs(place: Place): readonly Program[] {
  const all = mysql.programs({ ...place, settings: { ...WITHOUT, ...COUNTED, ...place.settings } });
  return all.map((program) => ({ ...program, name }));
}

export const urls = mysql.urls;
