import type { BridgeStatus } from '#panel/shapes/bridge.ts';
import { Badge } from '../components/badge.tsx';
import { Checkbox } from '../components/field.tsx';
import { NumberField } from '../components/number-field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { SaveRow, useForm } from '../components/use-form.tsx';
import { api } from '../core/api.ts';
import { numberFault } from '../core/field-checks.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { BridgeTokens } from './bridge-tokens.tsx';

/** Log lines of other machines in the same network. */
export function BridgeView() {
  const loaded = useLoaded<{ status: BridgeStatus }>('/api/bridge');
  return (
    <>
      <Section title={t('settings.bridge')}>
        <p class="soft lead">{t('settings.bridgeHint')}</p>
        <Ready of={loaded}>
          {({ status }) => (
            <>
              <State status={status} />
              <BridgeForm status={status} onSaved={loaded.reload} />
            </>
          )}
        </Ready>
      </Section>
      <BridgeTokens />
    </>
  );
}

function State({ status }: { status: BridgeStatus }) {
  const { enabled, listening, problem, peers, megabytes } = status;
  if (problem !== null) return <Notice kind="bad">{problem}</Notice>;
  if (!enabled) return null;
  return (
    <p class="words bridge-state">
      <Badge tone={listening ? 'good' : 'warn'}>{t(listening ? 'settings.listening' : 'settings.notListening')}</Badge>
      <span class="soft">
        {t('settings.peers', { count: peers })} · {t('settings.kept', { megabytes: number(megabytes, 1) })}
      </span>
    </p>
  );
}

/** Field, least and greatest value. */
const NUMBERS = [
  ['port', 1, 65_535],
  ['retentionDays', 1, 3650],
  ['maxMegabytes', 1, 1024],
] as const;

function BridgeForm({ status, onSaved }: { status: BridgeStatus; onSaved: () => void }) {
  const { enabled, port, retentionDays, maxMegabytes } = status;
  const save = async (changes: object) => {
    await api.post('/api/bridge/settings', changes);
    onSaved();
  };
  const form = useForm({ enabled, port, retentionDays, maxMegabytes }, save, (values) =>
    Object.fromEntries(NUMBERS.map(([name, min, max]) => [name, numberFault(values[name], min, max)])),
  );
  return (
    <form class="form" noValidate onSubmit={form.submit}>
      <Checkbox
        label={t('settings.bridgeEnabled')}
        hint={t('settings.bridgeEnabledHint')}
        checked={form.values.enabled}
        onChange={(checked) => form.set({ enabled: checked })}
      />
      <div class="pair">
        {NUMBERS.map(([name, min, max]) => (
          <NumberField
            key={name}
            label={t(`settings.${name}`)}
            min={min}
            max={max}
            value={form.values[name]}
            error={form.faultOf(name)}
            onInput={(value) => form.set({ [name]: value })}
          />
        ))}
      </div>
      <SaveRow form={form} />
    </form>
  );
}
