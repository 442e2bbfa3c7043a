import { useState } from 'preact/hooks';
import type { ColumnInfo, JsonText, RowAnswer, RowsAnswer } from '#panel/shapes/database.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Fault, Notice } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { columnText, indentedJson, kindOf } from './json-text.ts';
import { changesOf, draftOfRow, type RowDraft, rowRequest, valuesOf } from './row-draft.ts';
import { RowFields } from './row-fields.tsx';

interface RowDialogProps {
  readonly place: { readonly namespace: string; readonly table: string };
  readonly answer: RowsAnswer;
  readonly cells: readonly JsonText[];
  readonly onClose: () => void;
  /** The row is another one now, or has been found to be. */
  readonly onSaved: () => void;
}

/** The whole row. A change is previewed before it is saved. */
export function RowDialog({ place, answer, cells, onClose, onSaved }: RowDialogProps) {
  const can = useCan();
  const isEditable = can('database.write') && answer.key.length > 0;
  const edit = useRowEdit({ place, answer, cells, onClose, onSaved });
  const { preview, error, isBusy } = edit;
  const isRunning = useStore(live, ({ status }) => status !== null && !['stopped', 'crashed'].includes(status.state));
  return (
    <Dialog
      title={t(preview === null ? 'database.rowOf' : 'database.checkChange', { table: place.table })}
      isWide
      onClose={onClose}
      actions={
        isEditable ? (
          <>
            <Button disabled={isBusy} onClick={preview === null ? onClose : edit.back}>
              {t(preview === null ? 'common.cancel' : 'database.back')}
            </Button>
            <Button kind="primary" busy={isBusy} onClick={preview === null ? edit.look : edit.save}>
              {t(preview === null ? 'database.preview' : 'common.save')}
            </Button>
          </>
        ) : (
          <Button onClick={onClose}>{t('common.close')}</Button>
        )
      }
    >
      {isEditable && isRunning && <Notice kind="warn">{t('database.serverRuns')}</Notice>}
      {error !== null && <Fault error={error} />}
      {error instanceof PanelFault && error.key === 'database.conflict' && (
        <div class="row">
          <Button icon="restart" onClick={edit.readAgain}>
            {t('database.reload')}
          </Button>
        </div>
      )}
      {can('database.write') && answer.key.length === 0 && <Notice>{t('database.noKey')}</Notice>}
      {edit.isUnchanged && <Notice>{t('database.nothingChanged')}</Notice>}
      {preview === null ? (
        <RowFields
          columns={answer.columns}
          values={edit.values}
          draft={isEditable ? edit.draft : {}}
          faults={edit.faults}
          refusal={refusalOf(error)}
          onChange={edit.change}
        />
      ) : (
        <ChangePreview answer={preview} columns={answer.columns} />
      )}
    </Dialog>
  );
}

/** A refused value is shown at its field too, without the name of the column. */
function refusalOf(error: unknown): { readonly field: string; readonly reason: string } | null {
  if (!(error instanceof PanelFault) || error.field === null || error.key !== 'database.request') return null;
  const { field, detail } = error;
  return { field, reason: detail.startsWith(`${field}: `) ? detail.slice(field.length + 2) : detail };
}

function useRowEdit({ place, answer, cells, onClose, onSaved }: RowDialogProps) {
  // Values when the dialog opened: the page may read other rows meanwhile.
  const [values] = useState(() => valuesOf(answer, cells));
  const [draft, setDraft] = useState<RowDraft>(() => draftOfRow(answer.columns, values));
  const [preview, setPreview] = useState<RowAnswer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const { set, faults } = changesOf(answer.columns, values, draft);
  const isValid = Object.keys(faults).length === 0;
  const isChanged = Object.keys(set).length > 0;
  const send = async (isPreview: boolean) => {
    setAsked(true);
    if (!isValid || !isChanged) return;
    setBusy(true);
    setError(null);
    try {
      const request = rowRequest(place, answer, values, set);
      const told = await api.post<RowAnswer>('/api/database/row', { ...request, preview: isPreview });
      if (isPreview) setPreview(told);
      else {
        tellDone(t('common.saved'));
        onSaved();
        onClose();
      }
    } catch (fault) {
      setPreview(null);
      setError(fault);
    }
    setBusy(false);
  };
  return {
    ...{ values, draft, preview, error, isBusy },
    faults: isAsked ? faults : {},
    isUnchanged: isAsked && isValid && !isChanged,
    change(next: RowDraft) {
      setDraft(next);
      setError(null);
    },
    back: () => setPreview(null),
    readAgain() {
      onSaved();
      onClose();
    },
    look: () => void send(true),
    save: () => void send(false),
  };
}

/** Values before and after, also of columns that follow from the changed ones. */
function ChangePreview({ answer, columns }: { answer: RowAnswer; columns: readonly ColumnInfo[] }) {
  const valueText = (name: string, json = 'null') =>
    kindOf(json) === 'json'
      ? indentedJson(json)
      : columnText(columns.find((column) => column.name === name) ?? { type: 'text' }, json);
  return (
    <table class="table changes" aria-label={t('database.changes')}>
      <thead>
        <tr>
          <th scope="col">{t('database.column')}</th>
          <th scope="col">{t('database.before')}</th>
          <th scope="col">{t('database.after')}</th>
        </tr>
      </thead>
      <tbody>
        {answer.changed.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td data-title={t('database.before')}>
              <del>{valueText(name, answer.before[name])}</del>
            </td>
            <td data-title={t('database.after')}>
              <ins>{valueText(name, answer.after[name])}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
