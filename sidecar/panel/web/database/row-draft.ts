import type { ColumnInfo, JsonText, RowRequest, RowsAnswer } from '#panel/shapes/database.ts';
import { compactJson } from './json-text.ts';
import { fieldText, type TypedFault, typedText } from './typed-text.ts';
import { type LimitFault, limitFault } from './value-limits.ts';

/** One field of a row in the edit dialog. */
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

export type FieldFault = TypedFault | LimitFault | 'fault-null';

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

/** What is sent: which row, what it was when it was read, and what it is to be. */
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
