import { UnusableDatabaseError } from '../model/failures.ts';
import type { Standing } from '../sql/pool/host-choice.ts';
import type { SqlParam, SqlResult } from '../sql/session.ts';
import type { Flavour } from './schema/types.ts';

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
 * Makes a session independent of the server's defaults, in one statement. A variable that one of the two servers does not
 * know is in a comment that only the other one reads. `lockWaitSeconds` is longer than a call may take, so that the
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
  const mariadb = list({
    tx_isolation: "'READ-COMMITTED'",
    max_statement_time: 0,
    alter_algorithm: "'DEFAULT'",
    // No gaps on a server by itself. Galera keeps its own values, and MySQL lets only administrators set these.
    auto_increment_increment: 1,
    auto_increment_offset: 1,
  });
  const mysql = list({
    transaction_isolation: "'READ-COMMITTED'",
    max_execution_time: 0,
    // Figures of tables are those of now.
    information_schema_stats_expiry: 0,
  });
  return `SET ${list(both)} /*M!100500 , ${mariadb} */ /*!50720 , ${mysql} */`;
}

/** Facts about the server that the engine needs. */
export interface ServerFacts {
  readonly flavour: Flavour;
  /** A statement with its parameters must not be longer: the server hangs up. */
  readonly maxPacketBytes: number;
  /** Distance between ids that one statement generates in this session. */
  readonly idStep: bigint;
  /** A node of Galera. */
  readonly isGalera: boolean;
}

/** For `checkServer`. Not selected by name, since some servers lack some variables. A node that lost its cluster answers it. */
export const SERVER_FACTS = `SHOW SESSION VARIABLES WHERE variable_name IN (
  'version', 'max_allowed_packet', 'log_bin', 'binlog_format', 'auto_increment_increment', 'wsrep_on')`;

/** A read waits until this node has every write that was answered anywhere in the cluster before. */
export const CAUSAL_READS = 'SET SESSION wsrep_sync_wait = 1';

/**
 * Facts about a server that can be used, from the rows of `SERVER_FACTS` in a session that is set up.
 * @throws UnusableDatabaseError with the setting, its value and the value needed.
 */
export function checkServer(rows: readonly (readonly unknown[])[]): ServerFacts {
  const facts = new Map(rows.map(([name, value]) => [String(name), String(value)]));
  const version = facts.get('version') ?? '';
  const flavour = /mariadb/i.test(version) ? 'mariadb' : 'mysql';
  checkVersion(flavour, version);
  const maxPacketBytes = Number(facts.get('max_allowed_packet'));
  if (maxPacketBytes < MIN_PACKET_BYTES) {
    refuse('max_allowed_packet', maxPacketBytes, `at least ${MIN_PACKET_BYTES}`, 'rows and requests do not fit');
  }
  const format = facts.get('binlog_format') ?? '';
  if (facts.get('log_bin') === 'ON' && format === 'STATEMENT') {
    refuse('binlog_format', format, 'MIXED or ROW', 'InnoDB refuses READ COMMITTED transactions');
  }
  return {
    flavour,
    maxPacketBytes,
    idStep: BigInt(facts.get('auto_increment_increment') ?? 1),
    isGalera: facts.get('wsrep_on') === 'ON',
  };
}

/** For `standingOf`: also a node that lost its cluster answers it. */
const OBSTACLES = "SHOW GLOBAL VARIABLES WHERE variable_name IN ('read_only', 'wsrep_on')";
const READINESS = "SHOW GLOBAL STATUS LIKE 'wsrep_ready'";

/** State of the server behind a connection. */
export async function standingOf(query: (text: string) => Promise<SqlResult>): Promise<Standing> {
  const values = new Map((await query(OBSTACLES)).rows.map(([name, value]) => [String(name), String(value)]));
  const isNode = values.get('wsrep_on') === 'ON';
  if (isNode && !(await isReady(query))) return { obstacle: 'notReady', epoch: 0 };
  return { obstacle: values.get('read_only') === 'OFF' ? null : 'readOnly', epoch: 0 };
}

/** For a node of Galera. */
export async function isReady(query: (text: string) => Promise<SqlResult>): Promise<boolean> {
  return (await query(READINESS)).rows[0]?.[1] !== 'OFF';
}

function refuse(setting: string, value: string | number, needed: string, why: string): never {
  throw new UnusableDatabaseError(
    `${setting} is ${value} and must be ${needed} (else ${why}): set it in the configuration of the server`,
  );
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

/** Bytes of each parameter besides its value. */
const PARAM_BYTES = 16;
const MAX_UTF8_BYTES = 3;

/** Whether the server takes a statement with its parameters at once. */
export function isSendable(text: string, params: readonly SqlParam[], { maxPacketBytes }: ServerFacts): boolean {
  const bytesOf = (measure: (text: string) => number): number =>
    params.reduce<number>((sum, param) => {
      if (typeof param === 'string') return sum + PARAM_BYTES + measure(param);
      return sum + PARAM_BYTES + (param instanceof Uint8Array ? param.byteLength : 0);
    }, text.length);
  // Nearly always this is enough, and costs nothing.
  if (bytesOf((value) => value.length * MAX_UTF8_BYTES) <= maxPacketBytes) return true;
  return bytesOf((value) => Buffer.byteLength(value)) <= maxPacketBytes;
}
