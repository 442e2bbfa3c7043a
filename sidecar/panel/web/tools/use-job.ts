import { useEffect, useState } from 'preact/hooks';
import type { JobAnswer, JobLogLine, JobView } from '#panel/shapes/jobs.ts';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { isOver } from './job-state.tsx';

export interface FollowedJob {
  readonly status: JobView | null;
  readonly log: readonly JobLogLine[];
  readonly error: unknown;
}

/** Between two reads of a running job's log. */
const READ_MS = 1000;
const MAX_LINES = 5000;

/** A job and its log, read until it has ended. An event of it is a reason to read at once. */
export function useJob(id: string): FollowedJob {
  const [job, setJob] = useState<FollowedJob>({ status: null, log: [], error: null });
  useEffect(() => {
    let after = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReading = false;
    let isGone = false;
    const read = async () => {
      clearTimeout(timer);
      if (isReading || isGone) return;
      isReading = true;
      let waitMs: number | null = READ_MS;
      try {
        const { status, log, more } = await api.get<JobAnswer>(`/api/bundle-tools/jobs/${encodeURIComponent(id)}`, {
          after,
        });
        after = log.at(-1)?.seq ?? after;
        if (!isGone) setJob((before) => ({ status, log: [...before.log, ...log].slice(-MAX_LINES), error: null }));
        waitMs = more ? 0 : isOver(status) ? null : READ_MS;
      } catch (error) {
        if (!isGone) setJob((before) => ({ ...before, error }));
        waitMs = 5 * READ_MS;
      }
      isReading = false;
      if (waitMs !== null && !isGone) timer = setTimeout(read, waitMs);
    };
    void read();
    const forget = onEvent('job', (status) => {
      if (status.id === id) void read();
    });
    return () => {
      isGone = true;
      clearTimeout(timer);
      forget();
    };
  }, [id]);
  return job;
}
