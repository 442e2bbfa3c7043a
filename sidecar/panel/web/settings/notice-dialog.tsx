import { useState } from 'preact/hooks';
import { NOTICE_KINDS, type NoticeEvent, type NoticeTarget } from '#panel/shapes/notices.ts';
import { Checkbox, SelectField, TextArea, TextField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Fault } from '../components/states.tsx';
import { type SentForm, useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { LANGUAGES, t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { bodyOf, draftOfTarget, type NoticeDraft } from './notice-draft.ts';
import { NoticeEvents } from './notice-events.tsx';

interface NoticeDialogProps {
  /** null: a new one. */
  readonly target: NoticeTarget | null;
  readonly events: readonly NoticeEvent[];
  readonly onClose: () => void;
  /** @param secret made by the panel; null: none */
  readonly onSaved: (secret: string | null) => void;
}

const FIELDS = ['name', 'kind', 'url', 'line', 'secret', 'ca', 'events', 'quiet'] as const;

/** A target of notices. */
export function NoticeDialog({ target, events, onClose, onSaved }: NoticeDialogProps) {
  const [draft, setDraft] = useState(() => draftOfTarget(target));
  const isManager = useCan()('users.manage');
  const form = useSend(FIELDS, async () => {
    const { secret = null } = await api.post<{ secret?: string }>('/api/notices/save', bodyOf(draft, target?.id));
    onSaved(secret);
  });
  const set = (changes: Partial<NoticeDraft>) => {
    form.forget(FIELDS);
    setDraft((before) => ({ ...before, ...changes }));
  };
  const kinds = NOTICE_KINDS.filter((kind) => isManager || kind !== 'command');
  return (
    <FormDialog
      isWide
      title={target === null ? t('notices.new') : target.name}
      form={form}
      send={t('common.save')}
      onClose={onClose}
    >
      <TextField
        label={t('notices.name')}
        value={draft.name}
        maxLength={64}
        error={form.faultOf('name')}
        onInput={(name) => set({ name })}
      />
      <SelectField
        label={t('notices.kind')}
        value={draft.kind}
        options={kinds.map((kind) => [kind, t(`notices.kind-${kind}`)] as const)}
        error={form.faultOf('kind')}
        onChange={(kind) => set({ kind: kind as NoticeDraft['kind'] })}
      />
      <PlaceFields draft={draft} set={set} form={form} isKept={target?.kind === draft.kind} />
      <NoticeEvents draft={draft} events={events} fault={form.faultOf('events')} set={set} />
      <QuietFields draft={draft} set={set} fault={form.faultOf('quiet')} />
      <SelectField
        label={t('common.language')}
        value={draft.locale}
        options={Object.entries(LANGUAGES)}
        onChange={(locale) => set({ locale })}
      />
      <Checkbox label={t('notices.enabled')} checked={draft.enabled} onChange={(enabled) => set({ enabled })} />
      {form.error !== null && <Fault error={form.error} />}
    </FormDialog>
  );
}

interface FieldsProps {
  readonly draft: NoticeDraft;
  readonly set: (changes: Partial<NoticeDraft>) => void;
}

interface PlaceFieldsProps extends FieldsProps {
  readonly form: SentForm<(typeof FIELDS)[number]>;
  /** An empty field keeps the stored value, which is never shown. */
  readonly isKept: boolean;
}

function PlaceFields({ draft, set, form, isKept }: PlaceFieldsProps) {
  const { kind, url, secret, line, ca } = draft;
  if (kind === 'command') {
    return (
      <TextField
        mono
        label={t('notices.line')}
        hint={t('notices.lineHint')}
        value={line}
        error={form.faultOf('line')}
        onInput={(value) => set({ line: value })}
      />
    );
  }
  return (
    <>
      <TextField
        mono
        label={t('notices.url')}
        hint={isKept ? t('notices.kept') : t(`notices.urlHint-${kind}`)}
        placeholder="https://"
        autocomplete="off"
        value={url}
        error={form.faultOf('url')}
        onInput={(value) => set({ url: value })}
      />
      {kind === 'webhook' && (
        <>
          <TextField
            mono
            label={t('notices.secret')}
            hint={isKept ? t('notices.kept') : t('notices.secretHint')}
            autocomplete="off"
            value={secret}
            error={form.faultOf('secret')}
            onInput={(value) => set({ secret: value })}
          />
          <TextArea
            label={t('notices.ca')}
            hint={t('notices.caHint')}
            rows={3}
            value={ca}
            error={form.faultOf('ca')}
            onInput={(value) => set({ ca: value })}
          />
        </>
      )}
    </>
  );
}

function QuietFields({ draft, set, fault }: FieldsProps & { readonly fault: string | null }) {
  const { isQuiet, from, to, timeZone, errors } = draft;
  return (
    <>
      <Checkbox
        label={t('notices.quiet')}
        hint={t('notices.quietHint')}
        checked={isQuiet}
        onChange={(checked) => set({ isQuiet: checked })}
      />
      {isQuiet && (
        <>
          <div class="pair">
            <TextField label={t('notices.from')} value={from} error={fault} onInput={(value) => set({ from: value })} />
            <TextField label={t('notices.to')} value={to} onInput={(value) => set({ to: value })} />
            <TextField label={t('schedule.timeZone')} value={timeZone} onInput={(value) => set({ timeZone: value })} />
          </div>
          <Checkbox label={t('notices.errors')} checked={errors} onChange={(checked) => set({ errors: checked })} />
        </>
      )}
    </>
  );
}
