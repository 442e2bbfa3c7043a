import { useState } from 'preact/hooks';
import type { BundleToolsAnswer } from '#panel/shapes/bundle-tools.ts';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { SourceAccountView } from '#panel/shapes/sources.ts';
import { Button } from '../components/button.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault } from '../components/states.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { BuildFields, buildOf } from './build-fields.tsx';
import { RepositoryChooser } from './repository-chooser.tsx';

const FIELDS = ['name', 'url', 'account', 'branch', 'root', 'build', 'bundle'] as const;
const EMPTY = {
  from: 'remote',
  name: '',
  url: '',
  account: '',
  branch: '',
  root: '',
  bundle: '',
  script: '',
  output: '',
};
type Draft = typeof EMPTY;

/** A project from a repository, or from a bundle as it lies on the server. */
export function ImportForm() {
  const can = useCan();
  const overview = useLoaded<BundleToolsAnswer>(can('bundles.accounts.use') ? '/api/bundle-tools' : null);
  const [draft, setDraft] = useState(EMPTY);
  const form = useSend(FIELDS, async () => {
    const { status } = await api.post<{ status: JobStatus }>(...requestOf(draft));
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  const set = (changes: Partial<Draft>) => {
    const isOfBuild = 'script' in changes || 'output' in changes;
    form.forget([...Object.keys(changes), ...(isOfBuild ? ['build'] : [])]);
    setDraft((before) => ({ ...before, ...changes }));
  };
  const accounts = (overview.data?.accounts ?? []).filter(({ hasToken }) => hasToken);
  return (
    <Section title={t('sources.new')}>
      <form class="form" noValidate onSubmit={form.submit}>
        <SelectField
          label={t('sources.origin')}
          value={draft.from}
          options={[
            ['remote', t('sources.fromRemote')],
            ['server', t('sources.fromServer')],
          ]}
          onChange={(from) => set({ from })}
        />
        {draft.from === 'remote' && <RemoteFields draft={draft} accounts={accounts} set={set} faultOf={form.faultOf} />}
        {draft.from === 'server' && (
          <TextField
            label={t('sources.bundle')}
            hint={t('sources.bundleHint')}
            mono
            value={draft.bundle}
            error={form.faultOf('bundle')}
            onInput={(bundle) => set({ bundle: bundle.trim() })}
          />
        )}
        <TextField
          label={t('sources.project')}
          hint={t('sources.nameHint')}
          mono
          value={draft.name}
          error={form.faultOf('name')}
          onInput={(name) => set({ name: name.trim() })}
        />
        <TextField
          label={t('sources.root')}
          hint={t('sources.rootHint')}
          mono
          value={draft.root}
          error={form.faultOf('root')}
          onInput={(root) => set({ root: root.trim() })}
        />
        <BuildFields script={draft.script} output={draft.output} error={form.faultOf('build')} onChange={set} />
        {form.error !== null && <Fault error={form.error} />}
        <div class="form-actions">
          <Button type="submit" kind="primary" busy={form.isBusy} disabled={draft.name === ''}>
            {t(draft.from === 'remote' ? 'sources.import' : 'sources.create')}
          </Button>
        </div>
      </form>
    </Section>
  );
}

interface RemoteFieldsProps {
  readonly draft: Draft;
  readonly accounts: readonly SourceAccountView[];
  readonly set: (changes: Partial<Draft>) => void;
  readonly faultOf: (name: 'url' | 'account' | 'branch') => string | null;
}

function RemoteFields({ draft, accounts, set, faultOf }: RemoteFieldsProps) {
  const account = accounts.find(({ name }) => name === draft.account);
  return (
    <>
      {accounts.length > 0 && (
        <SelectField
          label={t('sources.account')}
          hint={t('sources.accountHint')}
          value={draft.account}
          error={faultOf('account')}
          options={[['', t('sources.noAccount')], ...accounts.map(({ name }) => [name, name] as const)]}
          onChange={(name) => set({ account: name })}
        />
      )}
      {account !== undefined && account.kind !== 'git' && (
        <RepositoryChooser
          key={account.name}
          account={account.name}
          onChoose={({ name, url }) =>
            set({ url, ...(draft.name === '' ? { name: name.split('/').at(-1) ?? name } : {}) })
          }
        />
      )}
      <TextField
        label={t('sources.url')}
        hint={t('sources.urlHint')}
        mono
        value={draft.url}
        error={faultOf('url')}
        onInput={(url) => set({ url: url.trim() })}
      />
      <TextField
        label={t('sources.branch')}
        hint={t('sources.branchHint')}
        mono
        value={draft.branch}
        error={faultOf('branch')}
        onInput={(branch) => set({ branch: branch.trim() })}
      />
    </>
  );
}

/** Fields that are left empty are not sent: the panel knows better. */
function requestOf({ from, name, url, account, branch, root, bundle, script, output }: Draft): [string, object] {
  const filled = Object.entries(from === 'remote' ? { account, branch, root } : { bundle, root });
  const rest = Object.fromEntries(filled.filter(([, value]) => value !== ''));
  const common = { ...rest, name, build: buildOf({ script, output }) };
  const base = '/api/bundle-tools/projects';
  return from === 'remote' ? [`${base}/import`, { ...common, url }] : [`${base}/create`, common];
}
