import type { Column } from '#protocol/columns.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';

/** The two servers differ in the name of the collation that compares by bytes, trailing spaces included. */
export type Flavour = 'mariadb' | 'mysql';

const BYTE_ORDER = { mariadb: 'utf8mb4_nopad_bin', mysql: 'utf8mb4_0900_bin' } as const satisfies Record<
  Flavour,
  string
>;

/** Shorter ones would lie inside the page, of which a row may not fill more than half (contract section 6). */
const MIN_STRING_CHARACTERS = 64;

/** Written out wherever text stands, so that no default of the server or of the database counts. */
export function textCharset(flavour: Flavour): string {
  return `CHARACTER SET utf8mb4 COLLATE ${BYTE_ORDER[flavour]}`;
}

export function stringCharacters(column: Column): number {
  return Math.max(MIN_STRING_CHARACTERS, column.length ?? 0);
}

/** Two columns with the same type keep equal values alike. */
export function columnType(column: Column, flavour: Flavour): string {
  const { type } = column;
  switch (type) {
    case 'int32':
      return 'INT';
    case 'int64':
      return 'BIGINT';
    case 'decimal':
      return `DECIMAL(${decimalPrecision(column)},${decimalScale(column)})`;
    case 'float64':
      return 'DOUBLE';
    case 'bool':
      return 'TINYINT(1)';
    case 'string':
      return `VARCHAR(${stringCharacters(column)}) ${textCharset(flavour)}`;
    case 'text':
    case 'json':
      return `MEDIUMTEXT ${textCharset(flavour)}`;
    case 'datetime':
      return 'DATETIME(3)';
    case 'date':
      return 'DATE';
    case 'uuid':
      return 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin';
    case 'bytes':
      return 'MEDIUMBLOB';
    default:
      return type satisfies never;
  }
}
