import { type MysqlConnection, quotedName, type TextRow } from './mysql-connection.ts';
import {
  type ColumnFacts,
  comparesLoosely,
  isTemporal,
  isTextual,
  isUnsigned,
  type SourceColumn,
  type SourceTable,
  type TableFacts,
} from './source.ts';

type Fact = keyof ColumnFacts;

/** Reads every row of a table once. */
export async function readFacts(connection: MysqlConnection, table: SourceTable): Promise<TableFacts> {
  const asked = table.columns.flatMap((column) =>
    Object.entries(questions(table, column)).map(([fact, sql]) => ({ column: column.name, fact: fact as Fact, sql })),
  );
  const list = ['COUNT(*)', ...asked.map(({ sql }) => sql)].join(', ');
  const [row] = await connection.rows(`SELECT ${list} FROM ${quotedName(table.name)}`);
  return factsOf(table, asked, row ?? []);
}

function factsOf(
  table: SourceTable,
  asked: readonly { readonly column: string; readonly fact: Fact }[],
  row: TextRow,
): TableFacts {
  const none: ColumnFacts = {
    values: 0,
    maxChars: 0,
    notBool: 0,
    beyondInt64: 0,
    zeroDates: 0,
    jsonTexts: 0,
    distinct: 0,
    distinctBytes: 0,
  };
  const columns = new Map(table.columns.map((column) => [column.name, none]));
  for (const [i, { column, fact }] of asked.entries()) {
    columns.set(column, { ...(columns.get(column) ?? none), [fact]: Number(row[i + 1] ?? 0) });
  }
  return { rows: Number(row[0] ?? 0), columns };
}

function questions(table: SourceTable, column: SourceColumn): Partial<Record<Fact, string>> {
  const name = quotedName(column.name);
  const isIndexed = table.indexes.some((index) => index.columns.includes(column.name));
  const needsDistinct = column.isAutoIncrement || (isIndexed && isTextual(column) && comparesLoosely(column));
  return {
    values: `COUNT(${name})`,
    ...(isTextual(column)
      ? {
          maxChars: `MAX(CHAR_LENGTH(${name}))`,
          jsonTexts: `SUM(JSON_VALID(${name}) AND LEFT(LTRIM(${name}), 1) IN ('{', '['))`,
        }
      : {}),
    ...(column.columnType.startsWith('tinyint(1)') ? { notBool: `SUM(${name} NOT IN (0, 1))` } : {}),
    ...(column.dataType === 'bigint' && isUnsigned(column)
      ? { beyondInt64: `SUM(${name} > 9223372036854775807)` }
      : {}),
    ...(isTemporal(column)
      ? {
          zeroDates: `SUM(CAST(${name} AS CHAR) LIKE '0000-%' OR CAST(${name} AS CHAR) REGEXP '^[0-9]{4}-(00|[0-9]{2}-00)')`,
        }
      : {}),
    ...(needsDistinct
      ? { distinct: `COUNT(DISTINCT ${name})`, distinctBytes: `COUNT(DISTINCT CAST(${name} AS BINARY))` }
      : {}),
  };
}
