import { useEffect, useState } from 'preact/hooks';
import { type PreviewedTime, SCHEDULE_ACTIONS, type ScheduleEntry } from '#panel/shapes/schedule.ts';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Fault } from '../components/states.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { ALL_DAYS, dayName, draftOf, type EntryDraft, kindsOf, whenOf, withAction } from './entry-draft.ts';

interface EntryDialogProps {
  /** null: a new one. */
  readonly entry: ScheduleEntry | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const FIELDS = ['name', 'action', 'text', 'when', 'timeZone'] as const;

/** An entry of the schedule, with the next times that it would have. */
export function EntryDialog({ entry, onClose, onSaved }: EntryDialogProps) {
  const [draft, setDraft] = useState(() => draftOf(entry));
  const form = useSend(FIELDS, async () => {
    const { name, action, text, timeZone, warn, enabled } = draft;
    const id = entry === null ? {} : { id: entry.id };
    await api.post('/api/schedule/save', { ...id, name, action, text, timeZone, warn, enabled, when: whenOf(draft) });
    onSaved();
  });
  const set = (changes: Partial<EntryDraft>) => {
    form.forget(FIELDS);
    setDraft((before) => ({ ...before, ...changes }));
  };
  return (
    <FormDialog
      title={entry === null ? t('schedule.new') : entry.name}
      form={form}
      send={t('common.save')}
      below={<NextTimes draft={draft} />}
      onClose={onClose}
    >
      <TextField
        label={t('schedule.name')}
        value={draft.name}
        maxLength={64}
        error={form.faultOf('name')}
        onInput={(name) => set({ name })}
      />
      <SelectField
        label={t('schedule.action')}
        value={draft.action}
        options={SCHEDULE_ACTIONS.map((action) => [action, t(`schedule.action-${action}`)] as const)}
        error={form.faultOf('action')}
        onChange={(action) => set(withAction(draft, action as EntryDraft['action']))}
      />
      {draft.action === 'command' && (
        <TextField
          mono
          label={t('schedule.text')}
          value={draft.text}
          error={form.faultOf('text')}
          onInput={(text) => set({ text })}
        />
      )}
      <WhenFields draft={draft} set={set} fault={form.faultOf('when')} />
      {draft.kind !== 'every' && (
        <TextField
          label={t('schedule.timeZone')}
          value={draft.timeZone}
          error={form.faultOf('timeZone')}
          onInput={(timeZone) => set({ timeZone })}
        />
      )}
      {(draft.action === 'restart' || draft.action === 'stop') && (
        <Checkbox label={t('schedule.warn')} checked={draft.warn} onChange={(warn) => set({ warn })} />
      )}
      <Checkbox label={t('schedule.enabled')} checked={draft.enabled} onChange={(enabled) => set({ enabled })} />
      {form.error !== null && <Fault error={form.error} />}
    </FormDialog>
  );
}

interface WhenFieldsProps {
  readonly draft: EntryDraft;
  readonly set: (changes: Partial<EntryDraft>) => void;
  readonly fault: string | null;
}

function WhenFields({ draft, set, fault }: WhenFieldsProps) {
  const { kind, days, times, at, hours, action } = draft;
  return (
    <>
      <SelectField
        label={t('schedule.when')}
        value={kind}
        options={kindsOf(action).map((one) => [one, t(`schedule.kind-${one}`)] as const)}
        onChange={(chosen) => set({ kind: chosen as EntryDraft['kind'] })}
      />
      {kind === 'weekly' && (
        <>
          <fieldset class="days">
            <legend>{t('schedule.days')}</legend>
            {ALL_DAYS.map((day) => (
              <Checkbox
                key={day}
                label={dayName(day)}
                checked={days.includes(day)}
                onChange={(checked) => set({ days: checked ? [...days, day] : days.filter((one) => one !== day) })}
              />
            ))}
          </fieldset>
          <TextField
            label={t('schedule.times')}
            hint={t('schedule.timesHint')}
            value={times}
            error={fault}
            onInput={(value) => set({ times: value })}
          />
        </>
      )}
      {kind === 'once' && (
        <TextField
          label={t('schedule.at')}
          placeholder="2031-03-30T05:00"
          value={at}
          error={fault}
          onInput={(value) => set({ at: value })}
        />
      )}
      {kind === 'every' && (
        <TextField
          type="number"
          label={t('schedule.hours')}
          min={1}
          max={168}
          value={hours}
          error={fault}
          onInput={(value) => set({ hours: value })}
        />
      )}
    </>
  );
}

const PREVIEW_WAIT_MS = 300;

/** As the panel itself counts them, daylight saving included. Nothing while the fields are not right. */
function NextTimes({ draft }: { draft: EntryDraft }) {
  const [times, setTimes] = useState<readonly PreviewedTime[]>([]);
  const question = JSON.stringify({ when: whenOf(draft), timeZone: draft.timeZone });
  useEffect(() => {
    const timer = setTimeout(() => {
      const answer = api.post<{ times: readonly PreviewedTime[] }>('/api/schedule/preview', JSON.parse(question));
      answer.then(
        (found) => setTimes(found.times),
        () => setTimes([]),
      );
    }, PREVIEW_WAIT_MS);
    return () => clearTimeout(timer);
  }, [question]);
  if (times.length === 0) return null;
  return (
    <section class="next-times" aria-label={t('schedule.nextTimes')}>
      <h3>{t('schedule.nextTimes')}</h3>
      <ol>
        {times.map(({ at, local, note }) => (
          <li key={at}>
            {local.slice(0, 16).replace('T', ' ')} <span class="soft small">{local.slice(16)}</span>
            {note !== null && <span class="soft small"> {t(`schedule.note-${note}`)}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}
