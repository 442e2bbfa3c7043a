import type { ColumnType } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Json, JsonObject } from '#protocol/json.ts';
import { parseJson } from '#protocol/json.ts';
import { MAX_DECIMAL_PRECISION, MAX_STRING_LENGTH } from '#protocol/limits.ts';
import { parseColumn } from '#protocol/schema-column.ts';
import { SchemaReader } from '#protocol/schema-reader.ts';
import { writeValue } from '#protocol/values.ts';
import { converterOf } from './convert.ts';
import { type ColumnFacts, isBinary, isGeometry, isTextual, isUnsigned, type SourceColumn } from './source.ts';
import { timeZoneOf } from './time-zone.ts';

export interface ColumnUse {
  /** New name. */
  readonly name: string;
  /** Stands in the primary key. */
  readonly isKey: boolean;
  /** Stands in the key, or in an index that is carried over. */
  readonly isIndexed: boolean;
}

export interface ProposedColumn {
  /** As it is declared: with `name`, `type`, size, `nullable` and `default`. */
  readonly json: JsonObject;
  /** Notes for the owner, in plain words. */
  readonly notes: readonly string[];
}

interface ProposedType {
  readonly type: ColumnType;
  readonly length?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly note?: string;
}

export function proposeColumn(source: SourceColumn, facts: ColumnFacts, use: ColumnUse): ProposedColumn {
  const { note, ...type } = typeOf(source, facts, use);
  const notes = note === undefined ? [] : [note];
  const hasZeros = facts.zeroDates > 0;
  if (hasZeros) notes.push(`${count(facts.zeroDates, 'zero date')} (0000-00-00, or without month or day): NULL`);
  const nullable = (source.isNullable || hasZeros) && !use.isKey;
  const bare: JsonObject = { name: use.name, ...type, ...(nullable ? { nullable } : {}) };
  const value = defaultOf(source, bare, notes);
  if (source.hasOnUpdateNow) notes.push('ON UPDATE CURRENT_TIMESTAMP: scripts set it themselves at an update');
  if (source.isGenerated) notes.push('a generated column: its values come along, scripts compute it from now on');
  return { json: value === undefined ? bare : { ...bare, default: value }, notes };
}

function typeOf(source: SourceColumn, facts: ColumnFacts, use: ColumnUse): ProposedType {
  const { dataType } = source;
  if (isTextual(source)) return textType(source, facts, use);
  if (isBinary(source)) return binaryType(source, use);
  if (isGeometry(source)) return { type: 'text', note: `${dataType}: kept as text, "POINT(1 2)"` };
  switch (dataType) {
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'bigint':
      return integerType(source, facts);
    case 'year':
      return { type: 'int32', note: 'year: kept as a whole number' };
    case 'bit':
      return bitType(source);
    case 'decimal':
      return decimalType(source);
    case 'float':
    case 'double':
      return { type: 'float64' };
    case 'date':
      return { type: 'date' };
    case 'datetime':
    case 'timestamp':
      return source.fractionDigits > 3
        ? { type: 'datetime', note: `${source.columnType}: milliseconds stay, further digits are cut` }
        : { type: 'datetime' };
    case 'time':
      return { type: 'string', length: 20, note: 'time: kept as text, "12:30:00"' };
    case 'json':
      return { type: 'json' };
    case 'uuid':
      return { type: 'uuid' };
    case 'enum':
    case 'set':
      return choiceType(source);
    default:
      return { type: 'string', length: 64, note: `${source.columnType}: kept as text` };
  }
}

function integerType(source: SourceColumn, facts: ColumnFacts): ProposedType {
  const { dataType, columnType } = source;
  if (columnType.startsWith('tinyint(1)')) {
    if (facts.notBool === 0 && !source.isAutoIncrement)
      return { type: 'bool', note: 'tinyint(1): true and false, no longer 1 and 0' };
    if (facts.notBool === 0) return { type: 'int32' };
    return { type: 'int32', note: `tinyint(1) that holds ${count(facts.notBool, 'value')} besides 0 and 1: a number` };
  }
  if (dataType === 'bigint') {
    if (facts.beyondInt64 === 0)
      return isUnsigned(source) ? { type: 'int64', note: signed('int64') } : { type: 'int64' };
    return {
      type: 'decimal',
      precision: 20,
      scale: 0,
      note: `unsigned with values beyond int64: decimal of 20 digits`,
    };
  }
  const isWide = dataType === 'int' && isUnsigned(source);
  return isUnsigned(source)
    ? { type: isWide ? 'int64' : 'int32', note: signed(isWide ? 'int64' : 'int32') }
    : { type: 'int32' };
}

function signed(type: string): string {
  return `unsigned: ${type}, which takes negative numbers too`;
}

function bitType({ precision, columnType }: SourceColumn): ProposedType {
  const bits = precision ?? 1;
  if (bits === 1) return { type: 'bool', note: 'bit(1): true and false' };
  if (bits < 64) return { type: 'int64', note: `${columnType}: a whole number` };
  return { type: 'decimal', precision: 20, scale: 0, note: `${columnType}: a whole number of 20 digits` };
}

function decimalType({ precision, scale, columnType }: SourceColumn): ProposedType {
  const digits = Math.min(precision ?? 10, MAX_DECIMAL_PRECISION);
  const fraction = Math.min(scale ?? 0, digits);
  const type = { type: 'decimal', precision: digits, scale: fraction } as const;
  return digits === precision ? type : { ...type, note: `${columnType}: at most ${MAX_DECIMAL_PRECISION} digits` };
}

function choiceType({ dataType, columnType }: SourceColumn): ProposedType {
  const values = [...columnType.matchAll(/'((?:[^']|'')*)'/g)].map((match) => (match[1] ?? '').replaceAll("''", "'"));
  const longest = dataType === 'set' ? values.join(',').length : Math.max(1, ...values.map((value) => value.length));
  const length = Math.min(Math.max(longest, 16), MAX_STRING_LENGTH);
  const what = dataType === 'set' ? 'set: text with commas between' : 'enum: text; any text is taken, no longer only';
  return { type: 'string', length, note: `${what} ${values.join(', ')}` };
}

function textType(source: SourceColumn, facts: ColumnFacts, use: ColumnUse): ProposedType {
  if (source.isDeclaredJson) return use.isIndexed ? { type: 'string', length: 255 } : { type: 'json' };
  const length = source.length ?? 255;
  const isShort = source.dataType === 'char' || source.dataType === 'varchar' || source.dataType === 'tinytext';
  if (use.isIndexed && facts.maxChars <= MAX_STRING_LENGTH)
    return indexedText(source, facts, isShort ? length : MAX_STRING_LENGTH + 1);
  if (facts.values > 0 && facts.jsonTexts === facts.values) {
    return { type: 'json', note: 'text that holds JSON only: scripts get the value, no longer text to decode' };
  }
  const other = facts.values - facts.jsonTexts;
  const note =
    facts.jsonTexts > 0
      ? {
          note: `${count(facts.jsonTexts, 'text')} of JSON, and ${count(other, 'text')} that is none or not valid: stays text`,
        }
      : {};
  if (!isShort || length > MAX_STRING_LENGTH) return { type: 'text', ...note };
  return { type: 'string', length: Math.max(1, length), ...note };
}

/** As long as it is declared if that is no more than a key may be wide, else as its longest value needs. */
function indexedText(source: SourceColumn, facts: ColumnFacts, declared: number): ProposedType {
  if (declared <= 255) return { type: 'string', length: Math.max(1, declared) };
  const length = Math.max(64, Math.ceil(facts.maxChars / 10) * 10);
  return { type: 'string', length, note: `${source.columnType} in an index: at most ${length} characters from now on` };
}

function binaryType({ columnType, length }: SourceColumn, use: ColumnUse): ProposedType {
  if (!use.isIndexed) return { type: 'bytes' };
  const digits = Math.min((length ?? 255) * 2, MAX_STRING_LENGTH);
  return { type: 'string', length: digits, note: `${columnType} in an index: kept as text of hexadecimal digits` };
}

function defaultOf(source: SourceColumn, bare: JsonObject, notes: string[]): Json | undefined {
  const given = source.default;
  if (given.kind === 'none') return undefined;
  if (given.kind === 'now') {
    if (bare.type === 'datetime' || bare.type === 'date') return 'now';
  } else if (given.kind === 'constant') {
    const value = constant(source, bare, given.text);
    if (value !== undefined) return value ?? undefined;
  } else if (bare.type === 'uuid' && /^uuid\(\)$/i.test(given.text)) return 'random';
  notes.push(`its default ${given.kind === 'now' ? 'CURRENT_TIMESTAMP' : given.text} cannot be declared: left out`);
  return undefined;
}

/** Null for a default that says nothing, undefined for one that does not fit. */
function constant(source: SourceColumn, bare: JsonObject, text: string): Json | undefined {
  const { column } = parseColumn(new SchemaReader(), { ...bare, nullable: true }, 'column');
  const bit = /^b'([01]+)'$/i.exec(text);
  const plain = bit === null ? text : String(Number.parseInt(bit[1] ?? '0', 2));
  try {
    const value = converterOf(source, column, timeZoneOf('UTC'))(plain);
    return parseJson(writeValue(column, value));
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

export function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
