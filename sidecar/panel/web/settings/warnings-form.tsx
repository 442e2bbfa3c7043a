import type { SettingsDocument } from '#panel/shapes/settings.ts';
import { Checkbox, TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { SaveRow, useForm } from '../components/use-form.tsx';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';

interface WarningsFormProps {
  readonly settings: SettingsDocument;
  readonly onSaved: () => void;
}

/** How players are warned of a restart. */
export function WarningsForm({ settings, onSaved }: WarningsFormProps) {
  const { warnMinutes, warnLine, warnEvents } = settings;
  const now = { warnMinutes: warnMinutes.join(', '), warnLine, warnEvents };
  const save = async ({ warnMinutes: typed, ...changes }: Partial<typeof now>) => {
    const minutes = typed === undefined ? {} : { warnMinutes: numbersIn(typed) };
    await api.post('/api/settings', { ...changes, ...minutes });
    onSaved();
  };
  const form = useForm(now, save);
  const isFxServer = useStore(live, (value) => value.status?.backend === 'fxserver');
  const mayType = useCan()('console.write');
  return (
    <Section title={t('schedule.warnings')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <TextField
          label={t('schedule.warnMinutes')}
          hint={t('schedule.warnMinutesHint')}
          value={form.values.warnMinutes}
          error={form.faultOf('warnMinutes')}
          onInput={(text) => form.set({ warnMinutes: text })}
        />
        <TextField
          mono
          label={t('schedule.warnLine')}
          hint={t('schedule.warnLineHint', { text: '{text}', minutes: '{minutes}' })}
          value={form.values.warnLine}
          readOnly={!mayType}
          error={form.faultOf('warnLine')}
          onInput={(text) => form.set({ warnLine: text })}
        />
        {isFxServer && (
          <Checkbox
            label={t('schedule.warnEvents')}
            checked={form.values.warnEvents}
            onChange={(checked) => form.set({ warnEvents: checked })}
          />
        )}
        <SaveRow form={form} />
      </form>
    </Section>
  );
}

/** Text that is no number becomes one that the panel refuses. */
function numbersIn(text: string): number[] {
  return text
    .split(/[\s,;]+/)
    .filter((part) => part !== '')
    .map(Number);
}
