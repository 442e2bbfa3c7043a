import type { MysqlConnection, TextRow } from './mysql-connection.ts';
import type {
  SourceColumn,
  SourceDatabase,
  SourceDefault,
  SourceForeignKey,
  SourceIndex,
  SourceTable,
} from './source.ts';

const UNKNOWN_TABLE = 1109;

/** Everything in the connection's database, by name. */
export async function readSource(connection: MysqlConnection): Promise<SourceDatabase> {
  const [server] = await connection.rows(
    "SELECT DATABASE(), VERSION(), IF(@@GLOBAL.time_zone = 'SYSTEM', @@GLOBAL.system_time_zone, @@GLOBAL.time_zone), @@GLOBAL.sql_mode",
  );
  const [name, version, timeZone, sqlMode] = texts(server);
  const isMariaDb = /mariadb/i.test(version);
  const found = await connection.rows(
    `SELECT table_name, table_type, auto_increment FROM information_schema.tables
     WHERE table_schema = DATABASE() ORDER BY table_name`,
  );
  const checks = await readChecks(connection, isMariaDb);
  const columns = await readColumns(connection, isMariaDb, checks);
  const indexes = await readIndexes(connection);
  const tables = found.flatMap((row): SourceTable[] => {
    const [table, type, nextId] = texts(row);
    if (type !== 'BASE TABLE') return [];
    const own = columns.get(table) ?? [];
    return [
      {
        name: table,
        columns: own,
        indexes: indexes.get(table) ?? [],
        nextId: own.some((column) => column.isAutoIncrement) && nextId !== '' ? BigInt(nextId) : null,
        checks: (checks.get(table) ?? []).filter((check) => jsonColumnOf(check) === null),
      },
    ];
  });
  return {
    name,
    version,
    isMariaDb,
    timeZone,
    isStrict: /STRICT_(ALL|TRANS)_TABLES/.test(sqlMode),
    tables,
    views: found.flatMap((row) => (row[1] === 'VIEW' ? [String(row[0])] : [])),
    triggers: await readTriggers(connection),
    foreignKeys: await readForeignKeys(connection),
    routines: await readRoutines(connection),
  };
}

function texts(row: TextRow | undefined): [string, string, string, string, string, string, string] {
  const all = [...(row ?? []), ...Array<null>(7).fill(null)].slice(0, 7).map((value) => value ?? '');
  return all as [string, string, string, string, string, string, string];
}

/** CHECK conditions by table. */
async function readChecks(connection: MysqlConnection, isMariaDb: boolean): Promise<Map<string, string[]>> {
  const ofMariaDb = `SELECT table_name, check_clause FROM information_schema.check_constraints
    WHERE constraint_schema = DATABASE()`;
  const ofMysql = `SELECT t.table_name, c.check_clause FROM information_schema.check_constraints c
    JOIN information_schema.table_constraints t USING (constraint_schema, constraint_name)
    WHERE constraint_schema = DATABASE() AND t.constraint_type = 'CHECK'`;
  try {
    return grouped(await connection.rows(isMariaDb ? ofMariaDb : ofMysql), (row) => String(row[1]));
  } catch (error) {
    if ((error as { errno?: number }).errno === UNKNOWN_TABLE) return new Map();
    throw error;
  }
}

/** The column of a condition that says nothing but that it holds JSON, as MariaDB's type JSON makes it. */
function jsonColumnOf(check: string): string | null {
  return /^\(?json_valid\(`([^`]+)`\)\)?$/i.exec(check.trim())?.[1] ?? null;
}

async function readColumns(
  connection: MysqlConnection,
  isMariaDb: boolean,
  checks: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, SourceColumn[]>> {
  const rows = await connection.rows(
    `SELECT table_name, column_name, data_type, column_type, is_nullable, column_default, extra,
       character_maximum_length, numeric_precision, numeric_scale, datetime_precision, collation_name
     FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`,
  );
  return grouped(rows, (row) => {
    const jsonColumns = (checks.get(String(row[0])) ?? []).map(jsonColumnOf);
    return columnOf(row, isMariaDb, jsonColumns.includes(String(row[1])));
  });
}

function columnOf(row: TextRow, isMariaDb: boolean, isCheckedJson: boolean): SourceColumn {
  const [, name, type, columnType, nullable, defaultText, extra, length, precision, scale, fraction, collation] = row;
  const dataType = String(type).toLowerCase();
  const traits = String(extra).toLowerCase();
  const isGenerated = /generated/.test(traits.replace('default_generated', ''));
  return {
    name: String(name),
    dataType,
    // Values of an enum keep their case.
    columnType: String(columnType).replace(/^\w+/, (type) => type.toLowerCase()),
    isNullable: nullable === 'YES',
    default: isGenerated ? { kind: 'none' } : defaultOf(defaultText ?? null, isMariaDb, traits),
    isAutoIncrement: traits.includes('auto_increment'),
    isGenerated,
    hasOnUpdateNow: traits.includes('on update'),
    length: numberOf(length),
    precision: numberOf(precision),
    scale: numberOf(scale),
    fractionDigits: numberOf(fraction) ?? 0,
    collation: collation ?? null,
    isDeclaredJson: dataType === 'json' || isCheckedJson,
  };
}

function numberOf(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}

/** MariaDB writes constants as SQL does, with quotes; MySQL writes them bare and marks expressions. */
function defaultOf(text: string | null, isMariaDb: boolean, traits: string): SourceDefault {
  if (text === null || (isMariaDb && text === 'NULL')) return { kind: 'none' };
  if (/^(current_timestamp|now|localtime|localtimestamp)(\(\d*\))?$/i.test(text)) return { kind: 'now' };
  if (!isMariaDb)
    return traits.includes('default_generated') ? { kind: 'expression', text } : { kind: 'constant', text };
  const quoted = /^'(.*)'$/s.exec(text);
  if (quoted !== null)
    return { kind: 'constant', text: (quoted[1] ?? '').replaceAll("''", "'").replace(/\\(.)/gs, '$1') };
  return /^(-?\d+(\.\d+)?(e[+-]?\d+)?|b'[01]+')$/i.test(text)
    ? { kind: 'constant', text }
    : { kind: 'expression', text };
}

async function readIndexes(connection: MysqlConnection): Promise<Map<string, SourceIndex[]>> {
  const rows = await connection.rows(
    `SELECT table_name, index_name, column_name, non_unique, sub_part, index_type FROM information_schema.statistics
     WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index`,
  );
  const parts = grouped(rows, (row) => row);
  return new Map(
    [...parts].map(([table, own]) => {
      const byName = Map.groupBy(own, (row) => String(row[1]));
      return [table, [...byName].map(([name, columns]) => indexOf(name, columns))];
    }),
  );
}

function indexOf(name: string, rows: readonly TextRow[]): SourceIndex {
  const isKind = (kind: string): boolean => rows.some((row) => row[5] === kind);
  return {
    name,
    // An index over an expression has no column.
    columns: rows.map((row) => row[2] ?? ''),
    prefixed: rows.flatMap((row) => (row[4] === null ? [] : [row[2] ?? ''])),
    isUnique: rows[0]?.[3] === '0',
    isOrdered: !isKind('FULLTEXT') && !isKind('SPATIAL') && rows.every((row) => row[2] !== null),
  };
}

async function readTriggers(connection: MysqlConnection): Promise<SourceDatabase['triggers']> {
  const rows = await connection.rows(
    `SELECT trigger_name, event_object_table, action_timing, event_manipulation FROM information_schema.triggers
     WHERE trigger_schema = DATABASE() ORDER BY event_object_table, trigger_name`,
  );
  return rows.map((row) => {
    const [name, table, timing, event] = texts(row);
    return { name, table, event: `${timing} ${event}` };
  });
}

async function readForeignKeys(connection: MysqlConnection): Promise<SourceForeignKey[]> {
  const rows = await connection.rows(
    `SELECT r.table_name, r.constraint_name, k.column_name, r.referenced_table_name, k.referenced_column_name,
       r.delete_rule, r.update_rule
     FROM information_schema.referential_constraints r
     JOIN information_schema.key_column_usage k
       ON k.constraint_schema = r.constraint_schema AND k.constraint_name = r.constraint_name AND k.table_name = r.table_name
     WHERE r.constraint_schema = DATABASE() ORDER BY r.table_name, r.constraint_name, k.ordinal_position`,
  );
  return [...Map.groupBy(rows, (row) => `${row[0]}\n${row[1]}`).values()].map((parts) => {
    const [table, , , otherTable, , onDelete, onUpdate] = texts(parts[0]);
    return {
      table,
      columns: parts.map((row) => String(row[2])),
      otherTable,
      otherColumns: parts.map((row) => String(row[4])),
      onDelete,
      onUpdate,
    };
  });
}

async function readRoutines(connection: MysqlConnection): Promise<string[]> {
  const rows = await connection.rows(
    `SELECT LOWER(routine_type), routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()
     UNION ALL SELECT 'event', event_name FROM information_schema.events WHERE event_schema = DATABASE() ORDER BY 1, 2`,
  );
  return rows.map(([kind, name]) => `${kind} ${name}`);
}

/** By the first column. */
function grouped<T>(rows: readonly TextRow[], read: (row: TextRow) => T): Map<string, T[]> {
  const groups = Map.groupBy(rows, (row) => String(row[0]));
  return new Map([...groups].map(([name, own]) => [name, own.map(read)]));
}
