import { BACKENDS, type Backend } from '#panel/shapes/server.ts';
import type { SettingsDocument } from '#panel/shapes/settings.ts';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { NumberField } from '../components/number-field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Notice } from '../components/states.tsx';
import { SaveRow, useForm } from '../components/use-form.tsx';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { numberFault, panelNameFault } from '../core/field-checks.ts';
import { t } from '../core/i18n.ts';
import { session, useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { FactorForm } from './factor-form.tsx';

interface GeneralViewProps {
  readonly settings: SettingsDocument;
  readonly onSaved: () => void;
}

export function GeneralView(props: GeneralViewProps) {
  const backend = useStore(live, (value) => value.status?.backend);
  return (
    <>
      <NameForm {...props} />
      <FactorForm {...props} />
      {backend !== 'none' && <RunningForm {...props} />}
      <FolderForm />
    </>
  );
}

function NameForm({ settings, onSaved }: GeneralViewProps) {
  const save = async (changes: { readonly dashboardName?: string }) => {
    await api.post('/api/settings', changes);
    session.set(changes);
    onSaved();
  };
  const form = useForm({ dashboardName: settings.dashboardName }, save, ({ dashboardName }) => ({
    dashboardName: panelNameFault(dashboardName),
  }));
  return (
    <Section title={t('settings.panel')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <TextField
          label={t('settings.dashboardName')}
          hint={t('settings.dashboardNameHint')}
          value={form.values.dashboardName}
          maxLength={64}
          error={form.faultOf('dashboardName')}
          onInput={(dashboardName) => form.set({ dashboardName })}
        />
        <SaveRow form={form} />
      </form>
    </Section>
  );
}

const HANG_SECONDS = { min: 10, max: 3600 } as const;

function RunningForm({ settings, onSaved }: GeneralViewProps) {
  const { shutdownMode, autoStartServer, restartHungServer, hangSeconds, hangCommand } = settings;
  const now = { shutdownMode, autoStartServer, restartHungServer, hangSeconds, hangCommand };
  const save = async (changes: Partial<typeof now>) => {
    await api.post('/api/settings', changes);
    onSaved();
  };
  const form = useForm(now, save, (values) => ({
    hangSeconds: numberFault(values.hangSeconds, HANG_SECONDS.min, HANG_SECONDS.max),
  }));
  const isCommand = useStore(live, (value) => value.status?.backend === 'command');
  const can = useCan();
  // Either of them can restart the server.
  const mayRestart = can('server.restart');
  const needed = t('settings.needsPermission', { permission: t('permissions.server.restart') });
  const { values, set } = form;
  return (
    <Section title={t('settings.running')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <SelectField
          label={t('settings.shutdownMode')}
          hint={t(`settings.shutdownHint-${values.shutdownMode}`)}
          value={values.shutdownMode}
          options={(['graceful', 'immediate'] as const).map((mode) => [mode, t(`settings.shutdown-${mode}`)])}
          error={form.faultOf('shutdownMode')}
          onChange={(mode) => set({ shutdownMode: mode as 'graceful' })}
        />
        <Checkbox
          label={t('settings.autoStartServer')}
          hint={t('settings.autoStartServerHint')}
          checked={values.autoStartServer}
          onChange={(checked) => set({ autoStartServer: checked })}
        />
        <Checkbox
          label={t('settings.restartHungServer')}
          hint={mayRestart ? t('settings.restartHungServerHint') : needed}
          checked={values.restartHungServer}
          disabled={!mayRestart}
          onChange={(checked) => set({ restartHungServer: checked })}
        />
        <NumberField
          label={t('settings.hangSeconds')}
          hint={mayRestart ? undefined : needed}
          {...HANG_SECONDS}
          value={values.hangSeconds}
          disabled={!mayRestart}
          error={form.faultOf('hangSeconds')}
          onInput={(seconds) => set({ hangSeconds: seconds })}
        />
        {isCommand && can('console.write') && (
          <TextField
            label={t('settings.hangCommand')}
            hint={t('settings.hangCommandHint')}
            value={values.hangCommand}
            error={form.faultOf('hangCommand')}
            onInput={(text) => set({ hangCommand: text })}
          />
        )}
        <SaveRow form={form} />
      </form>
    </Section>
  );
}

/** The folder says which program is run, so that it needs the right to manage accounts too. */
function FolderForm() {
  const status = useStore(live, (value) => value.status);
  const can = useCan();
  const now = { backend: status?.backend ?? 'none', serverRoot: status?.serverRoot ?? '' };
  const form = useForm<typeof now>(now, async (changes) => {
    await api.post('/api/server-path', changes);
    const answer = await api.get<{ status: typeof status }>('/api/status');
    live.set(answer);
  });
  if (status === null) return null;
  const isStopped = status.state === 'stopped' || status.state === 'crashed' || status.backend === 'none';
  const isMine = can('users.manage');
  return (
    <Section title={t('settings.folder')}>
      {!isStopped && isMine && <Notice>{t('settings.stopFirst')}</Notice>}
      <form class="form" noValidate onSubmit={form.submit}>
        {isStopped && isMine && (
          <SelectField
            label={t('setup.backend')}
            value={form.values.backend}
            options={BACKENDS.map((name) => [name, t(`setup.backend-${name}`)] as const)}
            error={form.faultOf('backend')}
            onChange={(name) => form.set({ backend: name as Backend })}
          />
        )}
        <TextField
          label={t('settings.serverRoot')}
          hint={t(isMine ? 'settings.serverRootHint' : 'settings.needsManager')}
          mono
          value={form.values.serverRoot}
          readOnly={!isStopped || !isMine}
          error={form.faultOf('serverRoot')}
          onInput={(serverRoot) => form.set({ serverRoot })}
        />
        {isStopped && isMine && <SaveRow form={form} />}
      </form>
    </Section>
  );
}
