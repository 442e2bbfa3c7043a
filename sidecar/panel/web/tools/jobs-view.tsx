import { useEffect } from 'preact/hooks';
import type { BundleToolsAnswer } from '#panel/shapes/bundle-tools.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { JobState, jobWords, subjectWords } from './job-state.tsx';

/** Jobs that the account may read, the newest first. */
export function JobsView() {
  const loaded = useLoaded<BundleToolsAnswer>('/api/bundle-tools');
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  return (
    <Ready of={loaded}>
      {({ jobs }) =>
        jobs.length === 0 ? (
          <Empty icon="check" title={t('jobs.none')}>
            <p>{t('jobs.noneHint')}</p>
          </Empty>
        ) : (
          <DataTable label={t('tools.jobs')} columns={columns()} rows={jobs} keyOf={({ id }) => id} />
        )
      }
    </Ready>
  );
}

function columns(): Column<JobView>[] {
  return [
    {
      title: t('jobs.job'),
      cell: ({ id, kind, subjects }) => (
        <a href={linkTo('tools', ['jobs', id])}>
          {[jobWords(kind), subjectWords(subjects)].filter((part) => part !== '').join(' · ')}
        </a>
      ),
    },
    { title: t('jobs.state'), cell: ({ state }) => <JobState state={state} /> },
    { title: t('jobs.message'), cell: ({ message }) => <span class="job-message">{message}</span> },
    { title: t('jobs.by'), cell: ({ by }) => <span class="whole-words">{by}</span> },
    { title: t('jobs.queued'), cell: ({ queuedAt }) => <Time iso={queuedAt} /> },
  ];
}
