import { join } from 'node:path';
import type { JobStep } from '#panel/jobs/job-kind.ts';
import { type JobRecord, JobStore } from '#panel/jobs/job-store.ts';
import { openPanelStore } from '#panel/store/panel-store.ts';

export const LEFT_JOB = 'a'.repeat(24);

export interface LeftJob extends Pick<JobRecord, 'kind' | 'input'> {
  /** Default: true. */
  readonly isCommitted?: boolean;
  readonly steps?: readonly JobStep[];
}

/** Writes a running job into the files of a panel that has ended, as `kill -9` leaves it. */
export function leaveJob(folder: string, { kind, input, isCommitted = true, steps = [] }: LeftJob): void {
  const store = openPanelStore(join(folder, 'data/panel.sqlite'));
  const jobs = new JobStore(store);
  jobs.save({
    ...{ id: LEFT_JOB, kind, input, subjects: [], accountId: 1, username: 'owner' },
    ...{ state: 'running', isCommitted, progress: 0, message: '', error: null, outcome: null },
    ...{ queuedAt: Date.now(), startedAt: Date.now(), endedAt: null },
  });
  for (const step of steps) jobs.addStep(LEFT_JOB, step);
  store.close();
}
