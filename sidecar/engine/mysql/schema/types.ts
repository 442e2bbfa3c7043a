import type { Column } from '#protocol/columns.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';

/** Kind of server: they name the collation that compares by bytes, including trailing spaces, differently. */
export type Flavour = 'mariadb' | 'mysql';

const BYTE_ORDER = { mariadb: 'utf8mb4_nopad_bin', mysql: 'utf8mb4_0900_bin' } as const satisfies Record<
  Flavour,
  string
>;

/** Shorter strings would be stored inside the page, and a row may fill at most half of a page (contract section 6). */
const MIN_STRING_CHARACTERS = 64;

/** Character set of every text column, so that defaults of the server or the database do not count. */
export function textCharset(flavour: Flavour): string {
  return `CHARACTER SET utf8mb4 COLLATE ${BYTE_ORDER[flavour]}`;
}

export function stringCharacters(column: Column): number {
  return Math.max(MIN_STRING_CHARACTERS, column.length ?? 0);
}

/** Two columns with the same type store equal values in the same form. */
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
