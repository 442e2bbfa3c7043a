import { useEffect, useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { ProjectView } from '#panel/shapes/sources.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Fault, Ready } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Source projects: where bundles come from. */
export function SourcesView() {
  const loaded = useLoaded<{ projects: readonly ProjectView[] }>('/api/bundle-tools/projects');
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  return (
    <>
      <Ready of={loaded}>
        {({ projects }) =>
          projects.length === 0 ? (
            <Empty icon="link" title={t('sources.none')} />
          ) : (
            <DataTable label={t('tools.sources')} columns={columns()} rows={projects} keyOf={({ name }) => name} />
          )
        }
      </Ready>
      <ImportForm />
    </>
  );
}

function columns(): Column<ProjectView>[] {
  return [
    { title: t('sources.project'), cell: ({ name }) => <a href={linkTo('tools', ['sources', name])}>{name}</a> },
    { title: t('sources.branch'), cell: ({ branch, commit }) => `${branch} · ${commit.slice(0, 12)}` },
    { title: t('sources.remote'), cell: (project) => <Distance project={project} /> },
    { title: t('sources.installed'), cell: ({ installed }) => installed?.version || '–' },
    { title: t('sources.reviews'), isNumber: true, cell: ({ reviews }) => reviews },
  ];
}

/** How far the local branch and the remote's have gone apart. */
export function Distance({ project: { origin, ahead, behind } }: { project: ProjectView }) {
  if (origin === null) return <span class="soft">{t('sources.local')}</span>;
  if (ahead === null || behind === null) return <span>–</span>;
  if (ahead === 0 && behind === 0) return <Badge tone="good">{t('sources.current')}</Badge>;
  return (
    <span class="words">
      {ahead > 0 && <Badge tone="info">{t('sources.ahead', { count: ahead })}</Badge>}
      {behind > 0 && <Badge tone="warn">{t('sources.behind', { count: behind })}</Badge>}
    </span>
  );
}

/** An address imports; without one the bundle of this name is taken as it lies on the server. */
function ImportForm() {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [account, setAccount] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [send, isBusy] = useAction(async () => {
    setError(null);
    const chosen = account.trim() === '' ? {} : { account: account.trim() };
    const [action, body] = url.trim() === '' ? ['create', { name }] : ['import', { name, url: url.trim(), ...chosen }];
    try {
      const { status } = await api.post<{ status: JobStatus }>(`/api/bundle-tools/projects/${action}`, body);
      location.hash = linkTo('tools', ['jobs', status.id]);
    } catch (fault) {
      setError(fault);
    }
  });
  return (
    <Section title={t('sources.new')}>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <TextField label={t('sources.project')} hint={t('sources.nameHint')} mono value={name} onInput={setName} />
        <TextField label={t('sources.url')} hint={t('sources.urlHint')} mono value={url} onInput={setUrl} />
        {url.trim() !== '' && (
          <TextField
            label={t('sources.account')}
            hint={t('sources.accountHint')}
            value={account}
            onInput={setAccount}
          />
        )}
        {error !== null && <Fault error={error} />}
        <div class="form-actions">
          <Button type="submit" kind="primary" busy={isBusy} disabled={name.trim() === ''}>
            {t(url.trim() === '' ? 'sources.create' : 'sources.import')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
