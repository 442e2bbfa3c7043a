import type { JobView } from '#panel/shapes/jobs.ts';
import { Notice } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { t, textFor } from '../core/i18n.ts';
import { isOver } from '../tools/job-state.tsx';

/** The last job of the updates above: how far it is, what it says, or why it failed. */
export function UpdateJob({ status }: { status: JobView | null }) {
  if (status === null || (status.message === '' && status.error === null && isOver(status))) return null;
  return (
    <div class="update-job" role="status">
      <JobText status={status} />
    </div>
  );
}

function JobText({ status }: { status: JobView }) {
  const { state, progress, message, error, endedAt } = status;
  if (!isOver(status)) {
    return (
      <div class="job">
        <progress max={1} value={progress === 0 ? undefined : progress} aria-label={t('jobs.progress')} />
        <p>{message}</p>
      </div>
    );
  }
  if (state !== 'failed') return <p class="soft">{message}</p>;
  const reason = error === null ? null : textFor(`errors.${error}`);
  return (
    <Notice kind="bad">
      <p>
        {reason ?? message}
        {endedAt !== null && (
          <span class="soft">
            {' · '}
            <Time iso={endedAt} />
          </span>
        )}
      </p>
      {reason !== null && message !== '' && <p class="soft">{message}</p>}
    </Notice>
  );
}
