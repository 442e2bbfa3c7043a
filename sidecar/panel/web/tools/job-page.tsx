import { useEffect, useRef } from 'preact/hooks';
import type { JobStatus, JobView } from '#panel/shapes/jobs.ts';
import { Button } from '../components/button.tsx';
import { Empty, Fault, Loading } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { dayTime } from '../core/format.ts';
import { t, textFor } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { JobOutcome } from './job-outcome.tsx';
import { isOver, JobState, jobWords, subjectWords } from './job-state.tsx';
import { type FollowedJob, useJob } from './use-job.ts';

/** A job: its state, its log as it grows, and what can be done about it. */
export function JobPage({ id }: { id: string }) {
  const job = useJob(id);
  return (
    <article class="job">
      <p class="log-actions">
        <a href={linkTo('tools')}>{t('jobs.all')}</a>
      </p>
      {job.error !== null && <Fault error={job.error} />}
      {job.status === null ? job.error === null && <Loading /> : <Job status={job.status} log={job.log} />}
    </article>
  );
}

function Job({ status, log }: { status: JobView; log: FollowedJob['log'] }) {
  const { kind, subjects, state, progress, message, error, by, startedAt, queuedAt } = status;
  const since = startedAt ?? queuedAt;
  const reason = error === null ? null : textFor(`errors.${error}`);
  return (
    <>
      <header class="job-head">
        <h2>{[jobWords(kind), subjectWords(subjects)].filter((part) => part !== '').join(' · ')}</h2>
        <JobState state={state} />
        <span class="soft">
          {by} · <Time iso={since} />
        </span>
      </header>
      {!isOver(status) && (
        <progress
          max={1}
          value={state === 'running' && progress === 0 ? undefined : progress}
          aria-label={t('jobs.progress')}
        />
      )}
      <p class="job-message" role="status">
        {reason === null ? message : `${reason} (${message})`}
      </p>
      <Actions status={status} />
      <JobOutcome status={status} />
      <Log lines={log} />
    </>
  );
}

function Actions({ status }: { status: JobView }) {
  const can = useCan();
  const [cancel, isCancelling] = useAction(async () => {
    await api.post(`/api/bundle-tools/jobs/${encodeURIComponent(status.id)}/cancel`);
  });
  const [undo, isUndoing] = useAction(async (trash: string) => {
    const { status: next } = await api.post<{ status: JobStatus }>('/api/bundles/restore', { id: trash });
    location.hash = linkTo('tools', ['jobs', next.id]);
  });
  const trash = trashOf(status);
  if (!isOver(status)) {
    return status.canCancel ? (
      <p class="row">
        <Button icon="close" busy={isCancelling} onClick={() => cancel()}>
          {t('jobs.cancel')}
        </Button>
      </p>
    ) : (
      <p class="soft">{t('jobs.committed')}</p>
    );
  }
  if (trash === null || !can('bundles.delete')) return null;
  return (
    <p class="row">
      <Button icon="undo" kind="primary" busy={isUndoing} onClick={() => undo(trash)}>
        {t('jobs.undo')}
      </Button>
    </p>
  );
}

/** Id in the trash of the bundle that the job has deleted. */
function trashOf({ kind, outcome }: JobStatus): string | null {
  if (kind !== 'bundles.delete' || typeof outcome !== 'object' || outcome === null) return null;
  const { trash } = outcome as { trash?: unknown };
  return typeof trash === 'string' ? trash : null;
}

/** Follows the end, unless its reader has scrolled up. */
function Log({ lines }: { lines: FollowedJob['log'] }) {
  const frame = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = frame.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines.length]);
  if (lines.length === 0) return <Empty title={t('jobs.noLog')} />;
  return (
    <div
      class="job-log"
      ref={frame}
      role="log"
      aria-label={t('jobs.log')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 30;
      }}
    >
      {lines.map(({ seq, time, text }) => (
        <p key={seq}>
          <time dateTime={time} class="soft">
            {dayTime(time)}
          </time>{' '}
          {text}
        </p>
      ))}
    </div>
  );
}
