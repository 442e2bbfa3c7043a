import { UnusableDatabaseError } from '../unusable-database-error.ts';
import type { Flavour } from './schema-types.ts';

/** Enough for an insert or a row of the largest request (`limits.maxBodyBytes` and `limits.maxAnswerBytes`). */
const MIN_PACKET_BYTES = 16 * 1024 * 1024;

const OLDEST = { mariadb: [10, 5, 0], mysql: [8, 0, 17] } as const satisfies Record<Flavour, readonly number[]>;

/**
 * Sorts compare so many bytes of a value and no more: all of a string's 4000 characters. Sorting by `text` needs more,
 * see `dialect.ts`.
 */
const MAX_SORT_BYTES = 16_384;
const SORT_BUFFER_BYTES = 2 * 1024 * 1024;

/**
 * Makes a session independent of the server's defaults, in one statement. What is unknown to one of the two servers
 * stands in a comment that only the other one reads. `lockWaitSeconds` is longer than a call may take, so that the
 * call's deadline ends it and not the server.
 */
export function setUpSql(lockWaitSeconds: number): string {
  const both = {
    // Zero is an id like others; a column that is not set has no silent default.
    sql_mode: "'STRICT_ALL_TABLES,STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'",
    autocommit: 1,
    completion_type: 0,
    time_zone: "'+00:00'",
    character_set_client: 'utf8mb4',
    character_set_connection: 'utf8mb4',
    character_set_results: 'utf8mb4',
    collation_connection: 'utf8mb4_bin',
    auto_increment_increment: 1,
    auto_increment_offset: 1,
    innodb_lock_wait_timeout: lockWaitSeconds,
    lock_wait_timeout: lockWaitSeconds,
    wait_timeout: 28_800,
    net_read_timeout: 60,
    net_write_timeout: 60,
    sql_safe_updates: 0,
    sql_auto_is_null: 0,
    sql_big_selects: 1,
    sql_select_limit: '18446744073709551615',
    unique_checks: 1,
    max_sort_length: MAX_SORT_BYTES,
    sort_buffer_size: SORT_BUFFER_BYTES,
  };
  const list = (variables: Readonly<Record<string, string | number>>): string =>
    Object.entries(variables)
      .map(([name, value]) => `@@SESSION.${name} = ${value}`)
      .join(', ');
  const mariadb = list({ tx_isolation: "'READ-COMMITTED'", max_statement_time: 0, alter_algorithm: "'DEFAULT'" });
  const mysql = list({ transaction_isolation: "'READ-COMMITTED'", max_execution_time: 0 });
  return `SET ${list(both)} /*M!100500 , ${mariadb} */ /*!50720 , ${mysql} */`;
}

/** What an engine must know of its server. */
export interface ServerFacts {
  readonly flavour: Flavour;
  /** A statement with its parameters must not be longer: the server hangs up. */
  readonly maxPacketBytes: number;
}

/** What `checkServer` reads. */
export const SERVER_FACTS =
  'SELECT version(), @@max_allowed_packet, @@log_bin, @@binlog_format, (SELECT count(*) FROM information_schema.engines' +
  " WHERE engine = 'InnoDB' AND support IN ('YES', 'DEFAULT'))";

/**
 * What the server is, if it can serve.
 * @throws UnusableDatabaseError with the setting, its value and the value needed.
 */
export function checkServer(facts: readonly unknown[]): ServerFacts {
  const [version, packet, isLogged, format, innodb] = facts;
  const flavour = /mariadb/i.test(String(version)) ? 'mariadb' : 'mysql';
  checkVersion(flavour, String(version));
  if (Number(packet) < MIN_PACKET_BYTES) {
    throw new UnusableDatabaseError(
      `max_allowed_packet is ${String(packet)} and must be at least ${MIN_PACKET_BYTES}: set it in the server's configuration`,
    );
  }
  if (Number(isLogged) === 1 && String(format) === 'STATEMENT') {
    throw new UnusableDatabaseError(
      'binlog_format is STATEMENT and must be MIXED or ROW: InnoDB refuses READ COMMITTED transactions with it',
    );
  }
  if (Number(innodb) === 0) throw new UnusableDatabaseError('the server has no storage engine InnoDB');
  return { flavour, maxPacketBytes: Number(packet) };
}

function checkVersion(flavour: Flavour, version: string): void {
  // Some clouds put "5.5.5-" before it for old clients.
  const numbers = version.replace(/^5\.5\.5-/, '').match(/^(\d+)\.(\d+)\.(\d+)/);
  const oldest = OLDEST[flavour];
  for (const [position, needed] of oldest.entries()) {
    const part = Number(numbers?.[position + 1] ?? 0);
    if (part > needed) return;
    if (part < needed) {
      const product = flavour === 'mariadb' ? 'MariaDB' : 'MySQL';
      throw new UnusableDatabaseError(
        `the server is ${product} ${version}, and ${oldest.join('.')} or newer is needed`,
      );
    }
  }
}
