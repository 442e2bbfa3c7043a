import type { ColumnInfo } from '#panel/shapes/database.ts';
import { IconButton } from '../components/button.tsx';
import { SelectField, TextArea, TextField } from '../components/field.tsx';
import { t, textFor } from '../core/i18n.ts';
import { type Condition, type ConditionFault, opsOf, takesList, takesNothing } from './filter-model.ts';

interface ConditionRowProps {
  readonly condition: Condition;
  readonly columns: readonly ColumnInfo[];
  readonly fault: ConditionFault | null;
  readonly onChange: (condition: Condition) => void;
  readonly onRemove: () => void;
}

export function ConditionRow({ condition, columns, fault, onChange, onRemove }: ConditionRowProps) {
  const column = columns.find(({ name }) => name === condition.column);
  const ops = column === undefined ? [condition.op] : opsOf(column);
  const choose = (name: string) => {
    const next = columns.find((one) => one.name === name);
    const nextOps = next === undefined ? [] : opsOf(next);
    onChange({ ...condition, column: name, op: nextOps.includes(condition.op) ? condition.op : (nextOps[0] ?? 'eq') });
  };
  return (
    <div class="condition">
      <SelectField
        label={t('database.column')}
        value={condition.column}
        options={columns.filter(({ filterOps }) => filterOps.length > 0).map(({ name }) => [name, name])}
        onChange={choose}
      />
      <SelectField
        label={t('database.comparison')}
        value={condition.op}
        options={ops.map((op) => [op, textFor(`database.op-${op}`) ?? op])}
        onChange={(op) => onChange({ ...condition, op })}
      />
      {!takesNothing(condition.op) && (
        <ValueField condition={condition} column={column} fault={fault} onChange={onChange} />
      )}
      <IconButton icon="close" label={t('database.removeCondition')} onClick={onRemove} />
    </div>
  );
}

type ValueFieldProps = Pick<ConditionRowProps, 'condition' | 'fault' | 'onChange'> & {
  readonly column: ColumnInfo | undefined;
};

function ValueField({ condition, column, fault, onChange }: ValueFieldProps) {
  const error = fault === null ? null : t(`database.${fault}`);
  const props = { value: condition.text, error, onInput: (text: string) => onChange({ ...condition, text }) };
  if (takesList(condition.op)) return <TextArea {...props} label={t('database.values')} rows={3} />;
  const choices = choicesOf(column);
  if (choices === null) return <TextField {...props} label={t('database.value')} mono />;
  return (
    <SelectField
      label={t('database.value')}
      value={condition.text}
      error={error}
      options={['', ...choices].map((text) => [text, text])}
      onChange={(text) => onChange({ ...condition, text })}
    />
  );
}

/** Where a column can hold only a few values, they are offered. */
function choicesOf(column: ColumnInfo | undefined): readonly string[] | null {
  if (column?.type === 'bool') return ['true', 'false'];
  return column?.oneOf ?? null;
}
