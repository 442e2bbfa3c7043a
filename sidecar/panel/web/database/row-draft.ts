import type { ColumnInfo, JsonText, RowRequest, RowsAnswer } from '#panel/shapes/database.ts';
import { compactJson, kindOf, shownText } from './json-text.ts';
import { fieldText, type TypedFault, typedText } from './typed-text.ts';

/** A field of a row in the edit dialog. */
export interface FieldDraft {
  readonly isNull: boolean;
  readonly text: string;
}

export type RowDraft = Readonly<Record<string, FieldDraft>>;

/** Values of a row by the names of their columns. */
export type RowValues = Readonly<Record<string, JsonText>>;

export function valuesOf({ columns }: Pick<RowsAnswer, 'columns'>, cells: readonly JsonText[]): RowValues {
  return Object.fromEntries(columns.map(({ name }, index) => [name, cells[index] ?? 'null']));
}

export function draftOfRow(columns: readonly ColumnInfo[], values: RowValues): RowDraft {
  const editable = columns.filter((column) => column.isEditable);
  return Object.fromEntries(
    editable.map((column) => {
      const json = values[column.name] ?? 'null';
      return [column.name, { isNull: json === 'null', text: fieldText(column, json) }];
    }),
  );
}

type FieldFault = TypedFault | LimitFault | 'fault-null';

export interface RowChanges {
  /** New values; only of columns that differ from what was seen. */
  readonly set: Readonly<Record<string, JsonText>>;
  readonly faults: Readonly<Record<string, FieldFault>>;
}

/** A field that nobody touched is never sent, whatever its text would be read as. */
export function changesOf(columns: readonly ColumnInfo[], values: RowValues, draft: RowDraft): RowChanges {
  const untouched = draftOfRow(columns, values);
  const set: Record<string, JsonText> = {};
  const faults: Record<string, FieldFault> = {};
  for (const column of columns) {
    const field = draft[column.name];
    const before = untouched[column.name];
    if (field === undefined || before === undefined || isSameField(field, before)) continue;
    if (field.isNull) {
      if (column.nullable) set[column.name] = 'null';
      else faults[column.name] = 'fault-null';
      continue;
    }
    const value = typedText(column, field.text);
    const fault = 'fault' in value ? value.fault : limitFault(column, value.json);
    if (fault !== null) faults[column.name] = fault;
    else if ('json' in value && value.json !== compactJson(values[column.name] ?? 'null'))
      set[column.name] = value.json;
  }
  return { set, faults };
}

function isSameField(one: FieldDraft, other: FieldDraft): boolean {
  return one.isNull === other.isNull && (one.isNull || one.text === other.text);
}

/** A longer value is not sent back as seen: a request has room for one of them, and the others tell of most changes. */
const LONGEST_SEEN = 100_000;

/** Request of an edit: the row, its values when it was read, and the new values. */
export function rowRequest(
  place: { readonly namespace: string; readonly table: string },
  answer: Pick<RowsAnswer, 'key'>,
  values: RowValues,
  set: Readonly<Record<string, JsonText>>,
): RowRequest {
  const key = Object.fromEntries(answer.key.map((name) => [name, values[name] ?? 'null']));
  const seen = Object.fromEntries(Object.entries(values).filter(([, text]) => text.length <= LONGEST_SEEN));
  return { ...place, key, set, seen };
}

type LimitFault = 'fault-range' | 'fault-scale' | 'fault-digits' | 'fault-length';

const PLAIN_NUMBER = /^-?(\d+)(?:\.(\d+))?$/;
const BITS: Readonly<Record<string, number>> = { int32: 32, int64: 64 };

type Limited = Pick<ColumnInfo, 'type' | 'length' | 'precision' | 'scale'>;

/** Whether the column can hold a value; null if it can, or if only the database can tell. */
function limitFault(column: Limited, json: JsonText): LimitFault | null {
  if (column.type === 'string') return isLonger(column, json) ? 'fault-length' : null;
  const [, whole, fraction = ''] = PLAIN_NUMBER.exec(json) ?? [];
  if (whole === undefined) return null;
  const bits = BITS[column.type];
  if (bits !== undefined) return BigInt.asIntN(bits, BigInt(json)) === BigInt(json) ? null : 'fault-range';
  const { precision, scale } = column;
  if (column.type !== 'decimal' || precision === undefined || scale === undefined) return null;
  if (fraction.replace(/0+$/, '').length > scale) return 'fault-scale';
  return whole.replace(/^0+/, '').length > precision - scale ? 'fault-digits' : null;
}

function isLonger({ length }: Limited, json: JsonText): boolean {
  return length !== undefined && kindOf(json) === 'string' && [...shownText(json)].length > length;
}

/** Numbers that the texts of the faults name. */
export function limitsOf({ type, length = 0, precision = 0, scale = 0 }: Limited) {
  const bits = BigInt(BITS[type] ?? 1);
  const most = 2n ** (bits - 1n);
  return { scale, length, digits: precision - scale, min: String(-most), max: String(most - 1n) };
}
