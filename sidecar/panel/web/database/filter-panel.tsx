import { useEffect, useState } from 'preact/hooks';
import type { ColumnInfo, JsonText } from '#panel/shapes/database.ts';
import { Button } from '../components/button.tsx';
import { TextArea } from '../components/field.tsx';
import { t } from '../core/i18n.ts';
import { ConditionRow } from './condition-row.tsx';
import {
  buildFilter,
  type Condition,
  type ConditionFault,
  draftOf,
  type FilterDraft,
  isOffered,
  NO_FILTER,
  opsOf,
} from './filter-model.ts';
import { isJson } from './json-text.ts';

interface FilterPanelProps {
  readonly columns: readonly ColumnInfo[];
  /** That of the rows on the page. */
  readonly filter: JsonText;
  /** Why the database refuses it; null if it does not. */
  readonly refusal: string | null;
  readonly onApply: (filter: JsonText) => void;
}

const NO_FAULTS: ReadonlyMap<number, ConditionFault> = new Map();

/** Conditions line by line; what lines cannot say is written as text of the filter language. */
export function FilterPanel({ columns, filter, refusal, onApply }: FilterPanelProps) {
  const [draft, setDraft] = useState<FilterDraft | null>(() => (refusal === null ? draftOf(filter) : null));
  const [text, setText] = useState(filter);
  const [faults, setFaults] = useState(NO_FAULTS);
  useEffect(() => {
    // A filter that was written as text stays text.
    setDraft((before) => (before === null && filter !== '' ? null : draftOf(filter)));
    setText(filter);
    setFaults(NO_FAULTS);
  }, [filter]);
  useEffect(() => {
    if (refusal !== null) setDraft((before) => (before !== null && isOffered(before, columns) ? before : null));
  }, [refusal]);
  const refusalText = refusal === null || text !== filter ? null : t('database.fault-filter', { reason: refusal });
  const apply = () => {
    if (draft === null) {
      if (text.trim() === '' || isJson(text)) onApply(text.trim());
      return;
    }
    const built = buildFilter(draft, columns);
    setFaults(built.faults);
    if (built.faults.size === 0) onApply(built.text);
  };
  return (
    <form
      class="filter"
      aria-label={t('database.filter')}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      {draft === null ? (
        <TextArea
          label={t('database.filterText')}
          hint={t('database.filterTextHint')}
          error={text.trim() === '' || isJson(text) ? refusalText : t('database.fault-json')}
          value={text}
          rows={4}
          onInput={setText}
        />
      ) : (
        <>
          <Conditions draft={draft} columns={columns} faults={faults} onChange={setDraft} />
          {refusalText !== null && (
            <p class="fault" role="alert">
              {refusalText}
            </p>
          )}
        </>
      )}
      <div class="row">
        {draft !== null && (
          <Button kind="quiet" onClick={() => setDraft(withOneMore(draft, columns))}>
            {t('database.addCondition')}
          </Button>
        )}
        <Button kind="quiet" onClick={() => switchForm(draft, text, columns, setDraft, setText)}>
          {t(draft === null ? 'database.asConditions' : 'database.asText')}
        </Button>
        {(draft === null || draft.conditions.length > 0 || filter !== '') && (
          <Button type="submit" kind="primary">
            {t('database.apply')}
          </Button>
        )}
        {filter !== '' && <Button onClick={() => onApply('')}>{t('database.showAll')}</Button>}
      </div>
    </form>
  );
}

function withOneMore(draft: FilterDraft, columns: readonly ColumnInfo[]): FilterDraft {
  const [column] = columns.filter(({ filterOps }) => filterOps.length > 0);
  if (column === undefined) return draft;
  const id = Math.max(-1, ...draft.conditions.map((condition) => condition.id)) + 1;
  const added: Condition = { id, column: column.name, op: opsOf(column)[0] ?? 'eq', text: '' };
  return { ...draft, conditions: [...draft.conditions, added] };
}

/** From lines to text whatever can be said; back only where the lines can say it, else nothing is lost. */
function switchForm(
  draft: FilterDraft | null,
  text: string,
  columns: readonly ColumnInfo[],
  setDraft: (draft: FilterDraft | null) => void,
  setText: (text: string) => void,
): void {
  if (draft === null) {
    const read = draftOf(text);
    if (read !== null) setDraft(read);
    else if (text.trim() === '') setDraft(NO_FILTER);
    return;
  }
  setText(buildFilter(draft, columns).text);
  setDraft(null);
}

interface ConditionsProps {
  readonly draft: FilterDraft;
  readonly columns: readonly ColumnInfo[];
  readonly faults: ReadonlyMap<number, ConditionFault>;
  readonly onChange: (draft: FilterDraft) => void;
}

function Conditions({ draft, columns, faults, onChange }: ConditionsProps) {
  const change = (id: number, changed: Condition | null) =>
    onChange({
      ...draft,
      conditions: draft.conditions.flatMap((one) => (one.id !== id ? [one] : changed === null ? [] : [changed])),
    });
  return (
    <>
      {draft.conditions.length > 1 && (
        <fieldset class="join">
          <legend class="unseen">{t('database.join')}</legend>
          {(['and', 'or'] as const).map((join) => (
            <label key={join}>
              <input
                type="radio"
                name="join"
                checked={draft.join === join}
                onChange={() => onChange({ ...draft, join })}
              />
              {t(`database.join-${join}`)}
            </label>
          ))}
        </fieldset>
      )}
      {draft.conditions.map((condition) => (
        <ConditionRow
          key={condition.id}
          condition={condition}
          columns={columns}
          fault={faults.get(condition.id) ?? null}
          onChange={(changed) => change(condition.id, changed)}
          onRemove={() => change(condition.id, null)}
        />
      ))}
    </>
  );
}
