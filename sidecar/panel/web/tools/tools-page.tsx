import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { Tabs } from '../components/tabs.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { AccountsView } from './accounts-view.tsx';
import { ComparePage } from './compare-page.tsx';
import { JobPage } from './job-page.tsx';
import { JobsView } from './jobs-view.tsx';
import { PackagesPage } from './packages-page.tsx';
import { ProgramsView } from './programs-view.tsx';
import { ProjectPage } from './project-page.tsx';
import { SourcesView } from './sources-view.tsx';
import { ToolSettingsView } from './tool-settings-view.tsx';
import { TrashView } from './trash-view.tsx';
import { UploadView } from './upload-view.tsx';
import { useSwitch } from './use-switch.ts';

/** `#/tools/jobs/ID` is one job; the parts beside it are tabs. */
export function ToolsPage() {
  const [part = 'jobs', id, step] = usePlace().rest;
  const can = useCan();
  const { isOn, loaded } = useSwitch();
  const seesAccounts = can('bundles.accounts.manage') || can('bundles.accounts.use');
  const parts = [
    'jobs' as const,
    ...(can('bundles.upload') ? (['upload'] as const) : []),
    ...(can('bundles.build') ? (['sources'] as const) : []),
    ...(seesAccounts ? (['accounts'] as const) : []),
    ...(can('bundles.tools') ? (['programs'] as const) : []),
    ...(can('bundles.delete') ? (['trash'] as const) : []),
    ...(can('bundles.settings') || can('settings.write') ? (['settings'] as const) : []),
  ];
  const tabs = parts.map((name) => ({
    link: linkTo('tools', name === 'jobs' ? [] : [name]),
    label: t(`tools.${name}`),
    isHere: name === part,
  }));
  return (
    <PageFrame title={t('tools.title')}>
      <Tabs label={t('tools.parts')} tabs={tabs} />
      <Ready of={loaded}>
        {() => <Switch isOn={isOn === true} onChange={loaded.reload} isShown={part === 'settings'} />}
      </Ready>
      {part === 'upload' && isOn === true && can('bundles.upload') && <UploadView />}
      {part === 'sources' && isOn === true && can('bundles.build') && <Sources name={id} step={step} />}
      {part === 'accounts' && isOn === true && seesAccounts && <AccountsView />}
      {part === 'programs' && isOn === true && can('bundles.tools') && <ProgramsView />}
      {part === 'trash' && <TrashView />}
      {part === 'settings' && isOn === true && can('bundles.settings') && <ToolSettingsView />}
      {part === 'jobs' && id !== undefined && <JobPage key={id} id={id} />}
      {part === 'jobs' && id === undefined && isOn === true && <JobsView />}
    </PageFrame>
  );
}

/** `#/tools/sources/NAME/compare` compares branches of one project, `…/packages` has its packages. */
function Sources({ name, step }: { name: string | undefined; step: string | undefined }) {
  if (name === undefined) return <SourcesView />;
  if (step === 'packages') return <PackagesPage key={name} project={name} />;
  return step === 'compare' ? <ComparePage key={name} project={name} /> : <ProjectPage key={name} name={name} />;
}

interface SwitchProps {
  readonly isOn: boolean;
  /** Also while they are on. */
  readonly isShown: boolean;
  readonly onChange: () => void;
}

/** The master switch. On needs the right to manage accounts too, since an upload can run any program. */
function Switch({ isOn, isShown, onChange }: SwitchProps) {
  const can = useCan();
  const [change, isBusy] = useAction(async (next: boolean) => {
    const question = { title: t('tools.askOff'), text: t('tools.askOffText'), action: t('tools.turnOff') };
    if (!next && !(await confirmed(question))) return;
    await api.post('/api/settings', { bundleTools: next });
    tellDone(t('common.saved'));
    onChange();
  });
  if (isOn && !isShown) return null;
  const mayChange = can('settings.write') && (isOn || can('users.manage'));
  const button = (
    <Button kind={isOn ? 'plain' : 'primary'} busy={isBusy} onClick={() => change(!isOn)}>
      {t(isOn ? 'tools.turnOff' : 'tools.turnOn')}
    </Button>
  );
  return (
    <Notice kind={isOn ? 'info' : 'warn'} action={mayChange ? button : undefined}>
      <p>{t(isOn ? 'tools.on' : 'tools.off')}</p>
      <p class="soft">{t('tools.risk')}</p>
    </Notice>
  );
}
