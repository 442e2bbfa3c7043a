import type { RestoreOutcome } from '#panel/shapes/backups.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { t, textFor } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { isOver, JobState, jobWords } from '../tools/job-state.tsx';

export function isUnderWay(status: JobView | null): boolean {
  return status !== null && !isOver(status);
}

/** The last job of backups, and the way back of a restore. */
export function BackupJob({ status, onStart }: { status: JobView; onStart: (status: JobView) => void }) {
  const can = useCan();
  const { kind, state, progress, message, error, startedAt, queuedAt, by } = status;
  const reason = error === null ? null : textFor(`errors.${error}`);
  const undo = undoOf(status);
  const [goBack, isBusy] = useAction(async ({ name, namespace }: Undo) => {
    const question = { title: t('backups.askUndo'), text: t('backups.undoText', { name }), action: t('backups.undo') };
    if (!(await confirmed({ ...question, isDanger: true }))) return;
    const only = namespace === null ? {} : { namespace };
    const body = { name, where: 'local', confirm: name, ...only };
    onStart((await api.post<{ status: JobView }>('/api/backups/restore', body)).status);
  });
  return (
    <div class="backup-job job">
      <header class="job-head">
        <h2>{jobWords(kind)}</h2>
        <JobState state={state} />
        <span class="soft">
          {by} · <Time iso={startedAt ?? queuedAt} />
        </span>
      </header>
      {!isOver(status) && (
        <progress max={1} value={progress === 0 ? undefined : progress} aria-label={t('jobs.progress')} />
      )}
      <p class="job-message" role="status">
        {reason === null ? message : `${reason} (${message})`}
      </p>
      {undo !== null && can('backups.restore', 'users.manage') && (
        <p class="row">
          <Button icon="undo" busy={isBusy} onClick={() => goBack(undo)}>
            {t('backups.undo')}
          </Button>
        </p>
      )}
    </div>
  );
}

interface Undo {
  readonly name: string;
  readonly namespace: string | null;
}

function undoOf({ kind, state, outcome }: JobView): Undo | null {
  if (kind !== 'backups.restore' || state !== 'succeeded') return null;
  const { undo, namespace } = outcome as RestoreOutcome;
  return undo === null ? null : { name: undo, namespace };
}
