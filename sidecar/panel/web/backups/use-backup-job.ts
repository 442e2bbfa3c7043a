import { useEffect, useRef, useState } from 'preact/hooks';
import type { BackupsAnswer } from '#panel/shapes/backups.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import { live, onEvent } from '../core/events.ts';
import { useStore } from '../core/store.ts';
import type { Loaded } from '../core/use-loaded.ts';
import { isOver } from '../tools/job-state.tsx';
import { isUnderWay } from './backup-job.tsx';

export interface FollowedBackupJob {
  /** Last job of backups that the account may read. */
  readonly status: JobView | null;
  /** Takes the job of an answer. */
  follow(started: JobView): void;
}

/** The last job of backups, by its events. The list asks the place off the machine: it is read again only when a job ends. */
export function useBackupJob({ data, reload }: Loaded<BackupsAnswer>): FollowedBackupJob {
  const [told, setTold] = useState<JobView | null>(null);
  const status = laterOf(told, data?.status ?? null);
  useEffect(
    () =>
      onEvent('job', (job) => {
        if (!job.kind.startsWith('backups.')) return;
        setTold(job);
        if (isOver(job)) reload();
      }),
    [],
  );
  const connection = useStore(live, (value) => value.connection);
  const isBlind = useRef(live.get().connection !== 'open');
  useEffect(() => {
    if (connection !== 'open') isBlind.current = true;
    else if (isBlind.current && data !== null) {
      isBlind.current = false;
      // It may have ended while no event could come.
      if (isUnderWay(status)) reload();
    }
  }, [connection, data]);
  // Its events may be here before the answer.
  const follow = (started: JobView) => setTold((before) => (before?.id === started.id ? before : started));
  return { status, follow };
}

/** A list may be older than an event that came while it was on its way. */
function laterOf(told: JobView | null, listed: JobView | null): JobView | null {
  if (told === null || listed === null) return told ?? listed;
  if (told.id === listed.id) return isOver(listed) ? listed : told;
  return told.queuedAt < listed.queuedAt ? listed : told;
}
