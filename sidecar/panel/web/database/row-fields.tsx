import type { ColumnInfo, JsonText } from '#panel/shapes/database.ts';
import { Checkbox, SelectField, TextArea, TextField } from '../components/field.tsx';
import { t } from '../core/i18n.ts';
import { columnText, indentedJson, kindOf } from './json-text.ts';
import { type FieldDraft, limitsOf, type RowChanges, type RowDraft, type RowValues } from './row-draft.ts';

interface RowFieldsProps {
  readonly columns: readonly ColumnInfo[];
  readonly values: RowValues;
  /** Draft of the fields that can be changed; the others are only shown. */
  readonly draft: RowDraft;
  readonly faults: RowChanges['faults'];
  /** Column and reason of the last refusal. */
  readonly refusal: { readonly field: string; readonly reason: string } | null;
  readonly onChange: (draft: RowDraft) => void;
}

export function RowFields({ columns, values, draft, faults, refusal, onChange }: RowFieldsProps) {
  const faultOf = (column: ColumnInfo) => {
    const fault = faults[column.name];
    if (fault !== undefined) return t(`database.${fault}`, limitsOf(column));
    return refusal?.field === column.name ? refusal.reason : null;
  };
  return (
    <div class="row-fields">
      {columns.map((column) => {
        const field = draft[column.name];
        if (field === undefined) {
          return <ShownValue key={column.name} column={column} json={values[column.name] ?? 'null'} />;
        }
        return (
          <ValueEditor
            key={column.name}
            column={column}
            field={field}
            error={faultOf(column)}
            onChange={(changed) => onChange({ ...draft, [column.name]: changed })}
          />
        );
      })}
    </div>
  );
}

function ShownValue({ column, json }: { column: ColumnInfo; json: JsonText }) {
  const kind = kindOf(json);
  return (
    <div class="field">
      <span class="field-name">
        {column.name} <span class="soft small">{typeText(column)}</span>
      </span>
      {kind === 'json' ? (
        <pre class="shown">{indentedJson(json)}</pre>
      ) : (
        <span class={kind === 'null' ? 'shown value null' : 'shown'}>{columnText(column, json)}</span>
      )}
    </div>
  );
}

interface ValueEditorProps {
  readonly column: ColumnInfo;
  readonly field: FieldDraft;
  readonly error: string | null;
  readonly onChange: (field: FieldDraft) => void;
}

function ValueEditor({ column, field, error, onChange }: ValueEditorProps) {
  const props = {
    label: column.name,
    hint: typeText(column),
    error,
    disabled: field.isNull,
    value: field.text,
    onInput: (text: string) => onChange({ isNull: false, text }),
  };
  const choices = column.type === 'bool' ? ['true', 'false'] : column.oneOf;
  return (
    <div class="value-editor">
      {choices !== undefined && !field.isNull ? (
        <SelectField
          {...props}
          options={(choices.includes(field.text) ? choices : ['', ...choices]).map((text) => [text, text])}
          onChange={props.onInput}
        />
      ) : isLong(column, field.text) ? (
        <TextArea {...props} rows={Math.min(14, Math.max(3, field.text.split('\n').length))} />
      ) : (
        <TextField {...props} mono={column.type !== 'string'} />
      )}
      {column.nullable && (
        <Checkbox
          label={t('database.isNull', { column: column.name })}
          checked={field.isNull}
          onChange={(isNull) => onChange({ ...field, isNull })}
        />
      )}
    </div>
  );
}

function isLong({ type }: ColumnInfo, text: string): boolean {
  return type === 'json' || type === 'text' || text.length > 100 || text.includes('\n');
}

/** `decimal(10, 2)`, `string(64)`: as a scripter declares it. */
function typeText({ type, length, precision, scale, isKey }: ColumnInfo): string {
  const sizes = [length, precision, scale].filter((size) => size !== undefined).join(', ');
  const text = sizes === '' ? type : `${type}(${sizes})`;
  return isKey ? `${text} · ${t('database.keyColumn')}` : text;
}
