import { useEffect } from 'preact/hooks';
import type { ProjectView, RemovedProject } from '#panel/shapes/sources.ts';
import { Badge, None } from '../components/badge.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { ImportForm } from './import-form.tsx';
import { RemovedProjects } from './project-removal.tsx';

/** Source projects: where bundles come from. */
export function SourcesView() {
  const can = useCan();
  const loaded = useLoaded<{ projects: readonly ProjectView[]; removed: readonly RemovedProject[] }>(
    '/api/bundle-tools/projects',
  );
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  return (
    <>
      <Ready of={loaded}>
        {({ projects, removed }) => (
          <>
            {projects.length === 0 ? (
              <Empty icon="link" title={t('sources.none')}>
                <p>{t('sources.noneHint')}</p>
              </Empty>
            ) : (
              <DataTable label={t('tools.sources')} columns={columns()} rows={projects} keyOf={({ name }) => name} />
            )}
            {can('bundles.sources.delete') && <RemovedProjects removed={removed} onRestored={loaded.reload} />}
          </>
        )}
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
    { title: t('sources.installed'), cell: ({ installed }) => installed?.version || <None /> },
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
