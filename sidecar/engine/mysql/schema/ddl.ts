import { identityOf, type PhysicalIndex, physicalIndexes } from '#engine/model/physical-indexes.ts';
import { HIDDEN_ID } from '#engine/model/physical-names.ts';
import { changesKey, type TableTransition } from '#engine/model/table-transition.ts';
import { type Column, columnOf, type Table } from '#protocol/schema.ts';
import { quoted } from '../dialect.ts';
import { columnType, type Flavour, stringCharacters, textCharset } from './types.ts';

/** Limit of InnoDB for an index. */
const MAX_KEY_BYTES = 3072;

/** Comment of a table that names the change that made it, so that an attempt after a crash sees what is done. */
export function markOf(revision: number): string {
  return `sidecar revision ${revision}`;
}

/** Options that override the defaults of server and database. */
export function tableOptions(flavour: Flavour): string {
  return `ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT ${textCharset(flavour)}`;
}

/** Column without a physical default: an insert names every column. */
export function columnSql(column: Column, flavour: Flavour): string {
  const required = column.nullable ? 'NULL' : 'NOT NULL';
  return `${quoted(column.name)} ${columnType(column, flavour)} ${required}${column.autoIncrement ? ' AUTO_INCREMENT' : ''}`;
}

const HIDDEN_SQL = `${quoted(HIDDEN_ID)} BIGINT NOT NULL AUTO_INCREMENT`;

interface NewTable {
  readonly physical: string;
  readonly table: Table;
  readonly flavour: Flavour;
  readonly revision: number;
  /** First id to generate. */
  readonly nextId: bigint;
}

export function createTableSql({ physical, table, flavour, revision, nextId }: NewTable): string {
  const parts = table.columns.map((column) => columnSql(column, flavour));
  if (table.primaryKey === undefined) parts.unshift(HIDDEN_SQL);
  parts.push(`PRIMARY KEY (${keyParts(table, identityOf(table)).join(', ')})`);
  parts.push(...physicalIndexes(physical, table).map((index) => indexSql(table, index)));
  return `CREATE TABLE IF NOT EXISTS ${quoted(physical)} (${parts.join(', ')})
    ${tableOptions(flavour)} AUTO_INCREMENT=${nextId} COMMENT='${markOf(revision)}'`;
}

function indexSql(table: Table, index: PhysicalIndex): string {
  const kind = index.unique ? 'UNIQUE INDEX' : 'INDEX';
  return `${kind} ${quoted(index.name)} (${keyParts(table, index.columns).join(', ')})`;
}

/** Clauses for the declared indexes that are missing. */
export function addIndexClauses(physical: string, table: Table, made: ReadonlySet<string>): string[] {
  return physicalIndexes(physical, table)
    .filter((index) => !made.has(index.name))
    .map((index) => `ADD ${indexSql(table, index)}`);
}

/**
 * Strings are physically longer than declared. If that makes an index too wide, only the declared length of each string
 * is indexed, which is all that it holds.
 */
function keyParts(table: Table, names: readonly string[]): string[] {
  const columns = names.map((name) => (name === HIDDEN_ID ? null : columnOf(table, name, 'index')));
  const strings = columns.filter((column) => column?.type === 'string');
  const others = columns.length - strings.length;
  const bytes = strings.reduce(
    (sum, column) => sum + (column === null ? 0 : 4 * stringCharacters(column)),
    20 * others,
  );
  return columns.map((column) => {
    if (column === null) return quoted(HIDDEN_ID);
    const isCut = bytes > MAX_KEY_BYTES && column.type === 'string' && (column.length ?? 0) < stringCharacters(column);
    return isCut ? `${quoted(column.name)}(${column.length})` : quoted(column.name);
  });
}

interface Alteration {
  readonly change: TableTransition;
  /** Physical names before and after. */
  readonly from: string;
  readonly to: string;
  readonly flavour: Flavour;
  /** New columns that exist already, nullable and filled. */
  readonly filled: ReadonlySet<string>;
}

/** Clauses of the single `ALTER TABLE` that brings the table to its declared form, but for its name. */
export function alterClauses(alteration: Alteration): string[] {
  const { change } = alteration;
  const isRekeyed = changesKey(change) || !isSameParts(change, identityOf(change.from), identityOf(change.to));
  const [dropped, renamed, added] = changedIndexes(alteration);
  return [
    ...dropped.map((index) => `DROP INDEX ${quoted(index.name)}`),
    ...(isRekeyed ? ['DROP PRIMARY KEY'] : []),
    ...(isRekeyed && change.from.primaryKey === undefined ? [`DROP COLUMN ${quoted(HIDDEN_ID)}`] : []),
    ...change.removed.map((column) => `DROP COLUMN ${quoted(column.name)}`),
    ...change.to.columns.flatMap((column) => columnClauses(alteration, column)),
    ...(isRekeyed && change.to.primaryKey === undefined ? [`ADD COLUMN ${HIDDEN_SQL} FIRST`] : []),
    ...(isRekeyed ? [`ADD PRIMARY KEY (${keyParts(change.to, identityOf(change.to)).join(', ')})`] : []),
    ...renamed.map(([old, index]) => `RENAME INDEX ${quoted(old)} TO ${quoted(index)}`),
    ...added.map((index) => `ADD ${indexSql(change.to, index)}`),
  ];
}

function columnClauses({ change, flavour, filled }: Alteration, column: Column): string[] {
  const source = change.sources.get(column.name);
  const sql = columnSql(column, flavour);
  if (source === undefined) {
    if (!filled.has(column.name)) return [`ADD COLUMN ${sql}`];
    return column.nullable ? [] : [`MODIFY COLUMN ${sql}`];
  }
  return columnSql(source, flavour) === sql ? [] : [`CHANGE COLUMN ${quoted(source.name)} ${sql}`];
}

/** Indexes to drop, indexes to rename (old and new name), and indexes to add. */
function changedIndexes({ change, from, to }: Alteration): [PhysicalIndex[], [string, string][], PhysicalIndex[]] {
  const left = new Map(physicalIndexes(from, change.from).map((index) => [index.name, index]));
  const taken = new Set(left.keys());
  const renamed: [string, string][] = [];
  const added: PhysicalIndex[] = [];
  for (const index of physicalIndexes(to, change.to)) {
    const isReachable = (old: PhysicalIndex): boolean => old.name === index.name || !taken.has(index.name);
    const old = [...left.values()].find((other) => isReachable(other) && isSameIndex(change, other, index));
    if (old === undefined) {
      added.push(index);
    } else {
      left.delete(old.name);
      if (old.name !== index.name) renamed.push([old.name, index.name]);
    }
  }
  return [[...left.values()], renamed, added];
}

function isSameIndex(change: TableTransition, from: PhysicalIndex, to: PhysicalIndex): boolean {
  const stored = to.columns.map((name) => change.sources.get(name)?.name);
  if (from.unique !== to.unique || from.columns.join(' ') !== stored.join(' ')) return false;
  return isSameParts(change, from.columns, to.columns);
}

/** Whether two lists of the same columns, before and after, index as much of each column. */
function isSameParts({ from, to }: TableTransition, old: readonly string[], names: readonly string[]): boolean {
  const lengths = (parts: readonly string[]): string => parts.map((part) => part.replace(/^`\w+`/, '')).join();
  return lengths(keyParts(from, old)) === lengths(keyParts(to, names));
}
