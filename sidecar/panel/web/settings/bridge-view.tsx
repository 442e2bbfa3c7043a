import type { BridgeStatus } from '../../shapes/bridge.ts';
import { Badge } from '../components/badge.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { BridgeTokens } from './bridge-tokens.tsx';
import { SaveRow } from './save-row.tsx';
import { useForm } from './use-form.ts';

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

function BridgeForm({ status, onSaved }: { status: BridgeStatus; onSaved: () => void }) {
  const { enabled, port, retentionDays, maxMegabytes } = status;
  const form = useForm({ enabled, port, retentionDays, maxMegabytes }, async (changes) => {
    await api.post('/api/bridge/settings', changes);
    onSaved();
  });
  const numbers = [
    ['port', 1, 65_535],
    ['retentionDays', 1, 3650],
    ['maxMegabytes', 1, 1024],
  ] as const;
  return (
    <form class="form" onSubmit={form.submit}>
      <Checkbox
        label={t('settings.bridgeEnabled')}
        hint={t('settings.bridgeEnabledHint')}
        checked={form.values.enabled}
        onChange={(checked) => form.set({ enabled: checked })}
      />
      <div class="pair">
        {numbers.map(([name, min, max]) => (
          <TextField
            key={name}
            label={t(`settings.${name}`)}
            type="number"
            min={min}
            max={max}
            value={String(form.values[name])}
            error={form.faultOf(name)}
            onInput={(text) => form.set({ [name]: Number(text) })}
          />
        ))}
      </div>
      <SaveRow form={form} />
    </form>
  );
}
