import type { BundleToolsAnswer, ToolSettings } from '#panel/shapes/bundle-tools.ts';
import { TextArea, TextField } from '../components/field.tsx';
import { NumberField } from '../components/number-field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { SaveRow, useForm } from '../components/use-form.tsx';
import { api } from '../core/api.ts';
import { numberFault } from '../core/field-checks.ts';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Field, least and greatest value. */
const NUMBERS = [
  ['gateSeconds', 1, 600],
  ['keepVersions', 0, 20],
  ['trashDays', 0, 365],
  ['buildMinutes', 1, 60],
  ['minReleaseAgeDays', 0, 365],
] as const;
const LISTS = ['gitHosts', 'privateHosts'] as const;

export function ToolSettingsView() {
  const loaded = useLoaded<BundleToolsAnswer>('/api/bundle-tools');
  return (
    <Section title={t('tools.settings')}>
      <Ready of={loaded}>{({ settings }) => <SettingsForm settings={settings} onSaved={loaded.reload} />}</Ready>
    </Section>
  );
}

function SettingsForm({ settings, onSaved }: { settings: ToolSettings; onSaved: () => void }) {
  const read = { ...settings, gitHosts: settings.gitHosts.join('\n'), privateHosts: settings.privateHosts.join('\n') };
  const save = async (changes: Partial<typeof read>) => {
    const lists = LISTS.filter((name) => changes[name] !== undefined).map((name) => [
      name,
      linesOf(changes[name] ?? ''),
    ]);
    await api.post('/api/bundle-tools/settings', { ...changes, ...Object.fromEntries(lists) });
    onSaved();
  };
  const form = useForm(read, save, (values) =>
    Object.fromEntries(NUMBERS.map(([name, min, max]) => [name, numberFault(values[name], min, max)])),
  );
  return (
    <form class="form" noValidate onSubmit={form.submit}>
      <div class="pair">
        {NUMBERS.map(([name, min, max]) => (
          <NumberField
            key={name}
            label={t(`tools.${name}`)}
            min={min}
            max={max}
            value={form.values[name]}
            error={form.faultOf(name)}
            onInput={(value) => form.set({ [name]: value })}
          />
        ))}
      </div>
      <TextField
        label={t('tools.registry')}
        hint={t('tools.registryHint')}
        mono
        value={form.values.registry}
        error={form.faultOf('registry')}
        onInput={(registry) => form.set({ registry })}
      />
      {LISTS.map((name) => (
        <TextArea
          key={name}
          label={t(`tools.${name}`)}
          hint={t(`tools.${name}Hint`)}
          rows={4}
          value={form.values[name]}
          error={form.faultOf(name)}
          onInput={(text) => form.set({ [name]: text })}
        />
      ))}
      <SaveRow form={form} />
    </form>
  );
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '');
}
