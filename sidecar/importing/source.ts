/** Facts that `import` has about a foreign MySQL or MariaDB database, from its `information_schema`. */
export interface SourceDatabase {
  readonly name: string;
  /** As the server tells it, "10.11.14-MariaDB-0+deb12u2". */
  readonly version: string;
  readonly isMariaDb: boolean;
  /** The server's own, in which `NOW()` writes naive times unless a program says otherwise. */
  readonly timeZone: string;
  readonly isStrict: boolean;
  readonly tables: readonly SourceTable[];
  readonly views: readonly string[];
  readonly triggers: readonly SourceTrigger[];
  readonly foreignKeys: readonly SourceForeignKey[];
  /** Procedures, functions and events. */
  readonly routines: readonly string[];
}

export interface SourceTable {
  readonly name: string;
  readonly columns: readonly SourceColumn[];
  readonly indexes: readonly SourceIndex[];
  /** The next id, if the table counts. */
  readonly nextId: bigint | null;
  /** Conditions of CHECK constraints that say more than `json_valid`. */
  readonly checks: readonly string[];
}

export interface SourceColumn {
  readonly name: string;
  /** Lower case, without size: "varchar", "bigint". */
  readonly dataType: string;
  /** With size, values and sign: "int(10) unsigned", "enum('a','b')". */
  readonly columnType: string;
  readonly isNullable: boolean;
  readonly default: SourceDefault;
  readonly isAutoIncrement: boolean;
  /** GENERATED ALWAYS AS. */
  readonly isGenerated: boolean;
  readonly hasOnUpdateNow: boolean;
  /** Characters, or bytes of a binary type. */
  readonly length: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
  readonly fractionDigits: number;
  /** Null if it holds no text. */
  readonly collation: string | null;
  /** JSON of MySQL, or longtext with `CHECK (json_valid(…))` of MariaDB. */
  readonly isDeclaredJson: boolean;
}

export type SourceDefault =
  | { readonly kind: 'none' }
  | { readonly kind: 'constant'; readonly text: string }
  | { readonly kind: 'now' }
  | { readonly kind: 'expression'; readonly text: string };

export interface SourceIndex {
  /** PRIMARY for the key. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns that count only with their first characters. */
  readonly prefixed: readonly string[];
  readonly isUnique: boolean;
  /** BTREE or HASH; FULLTEXT and SPATIAL are no order. */
  readonly isOrdered: boolean;
}

export interface SourceTrigger {
  readonly name: string;
  readonly table: string;
  /** "BEFORE UPDATE". */
  readonly event: string;
}

export interface SourceForeignKey {
  readonly table: string;
  readonly columns: readonly string[];
  readonly otherTable: string;
  readonly otherColumns: readonly string[];
  readonly onDelete: string;
  readonly onUpdate: string;
}

/** Facts about a column from the rows themselves. */
export interface ColumnFacts {
  /** Not NULL. */
  readonly values: number;
  readonly maxChars: number;
  /** For a tinyint(1): values other than 0 and 1. */
  readonly notBool: number;
  readonly beyondInt64: number;
  readonly zeroDates: number;
  /** Text that is a JSON object or array. */
  readonly jsonTexts: number;
  /** Different values as MySQL compares them, and as bytes; both 0 if they were not counted. */
  readonly distinct: number;
  readonly distinctBytes: number;
}

export interface TableFacts {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, ColumnFacts>;
}

const TEXT_TYPES: readonly string[] = ['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext'];
const BINARY_TYPES: readonly string[] = ['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'];
const GEOMETRY_TYPES: readonly string[] = [
  'geometry',
  'point',
  'linestring',
  'polygon',
  'multipoint',
  'multilinestring',
  'multipolygon',
  'geometrycollection',
  'geomcollection',
];

export function isTextual({ dataType }: SourceColumn): boolean {
  return TEXT_TYPES.includes(dataType);
}

export function isBinary({ dataType }: SourceColumn): boolean {
  return BINARY_TYPES.includes(dataType);
}

export function isGeometry({ dataType }: SourceColumn): boolean {
  return GEOMETRY_TYPES.includes(dataType);
}

export function isTemporal({ dataType }: SourceColumn): boolean {
  return dataType === 'date' || dataType === 'datetime' || dataType === 'timestamp';
}

export function isUnsigned({ columnType }: SourceColumn): boolean {
  return columnType.includes('unsigned');
}

/** Text that differs only by case, accents or trailing spaces is equal under such a collation. */
export function comparesLoosely({ collation }: SourceColumn): boolean {
  return collation !== null && !collation.endsWith('_bin') && !collation.endsWith('_as_cs');
}

export function primaryKeyOf({ indexes }: SourceTable): SourceIndex | null {
  return indexes.find((index) => index.name === 'PRIMARY') ?? null;
}
