import { useEffect, useState } from 'preact/hooks';
import type { ScheduleAnswer, ScheduleEntry } from '#panel/shapes/schedule.ts';
import type { SettingsDocument } from '#panel/shapes/settings.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { EntryDialog } from './entry-dialog.tsx';
import { whenText } from './entry-draft.ts';
import { WarningsForm } from './warnings-form.tsx';

interface ScheduleViewProps {
  readonly settings: SettingsDocument;
  readonly onSaved: () => void;
}

/** Work by the clock, and the warnings before it. */
export function ScheduleView({ settings, onSaved }: ScheduleViewProps) {
  const loaded = useLoaded<ScheduleAnswer>('/api/schedule');
  const [edited, edit] = useState<ScheduleEntry | 'new' | null>(null);
  const isEditor = useCan()('schedule.write');
  useEffect(() => onEvent('schedule', () => loaded.reload()), []);
  const add = isEditor ? (
    <Button kind="primary" onClick={() => edit('new')}>
      {t('schedule.new')}
    </Button>
  ) : null;
  return (
    <>
      <Section title={t('settings.schedule')} actions={add}>
        <Ready of={loaded}>
          {({ entries }) => <EntryTable entries={entries} isEditor={isEditor} onEdit={edit} onDone={loaded.reload} />}
        </Ready>
      </Section>
      <WarningsForm settings={settings} onSaved={onSaved} />
      {edited !== null && (
        <EntryDialog
          entry={edited === 'new' ? null : edited}
          onClose={() => edit(null)}
          onSaved={() => {
            edit(null);
            loaded.reload();
          }}
        />
      )}
    </>
  );
}

interface EntryTableProps {
  readonly entries: readonly ScheduleEntry[];
  readonly isEditor: boolean;
  readonly onEdit: (entry: ScheduleEntry) => void;
  readonly onDone: () => void;
}

function EntryTable({ entries, isEditor, onEdit, onDone }: EntryTableProps) {
  if (entries.length === 0) return <Empty icon="restart" title={t('schedule.none')} />;
  const columns: Column<ScheduleEntry>[] = [
    {
      title: t('schedule.name'),
      cell: ({ name, enabled }) => (
        <>
          {name} {!enabled && <span class="soft small">{t('schedule.off')}</span>}
        </>
      ),
    },
    { title: t('schedule.action'), cell: ({ action }) => t(`schedule.action-${action}`) },
    { title: t('schedule.when'), cell: ({ when, timeZone }) => whenText(when, timeZone) },
    { title: t('schedule.lastRun'), cell: ({ lastRun }) => <LastRun lastRun={lastRun} /> },
  ];
  if (isEditor) {
    const cell = (entry: ScheduleEntry) => <Actions entry={entry} onEdit={onEdit} onDone={onDone} />;
    columns.push({ title: t('bundles.actions'), isActions: true, cell });
  }
  return <DataTable label={t('settings.schedule')} columns={columns} rows={entries} keyOf={({ id }) => id} />;
}

function LastRun({ lastRun }: Pick<ScheduleEntry, 'lastRun'>) {
  if (lastRun === null) return <>{t('schedule.never')}</>;
  return (
    <>
      {t(`schedule.result-${lastRun.result}`)}, <Time iso={lastRun.at} />
    </>
  );
}

interface ActionsProps extends Pick<EntryTableProps, 'onEdit' | 'onDone'> {
  readonly entry: ScheduleEntry;
}

function Actions({ entry, onEdit, onDone }: ActionsProps) {
  const { id, name } = entry;
  const [remove, isRemoving] = useAction(async () => {
    const question = { title: t('schedule.askDelete', { name }), text: t('schedule.deleteText') };
    if (!(await confirmed({ ...question, action: t('schedule.delete'), isDanger: true }))) return;
    await api.post('/api/schedule/delete', { id });
    onDone();
  });
  return (
    <span class="row-actions">
      <Button kind="quiet" icon="edit" title={`${t('schedule.edit')}: ${name}`} onClick={() => onEdit(entry)}>
        {t('schedule.edit')}
      </Button>
      <Button
        kind="quiet"
        icon="trash"
        busy={isRemoving}
        title={`${t('schedule.delete')}: ${name}`}
        onClick={() => remove()}
      >
        {t('schedule.delete')}
      </Button>
    </span>
  );
}
