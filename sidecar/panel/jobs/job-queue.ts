import { PanelError } from '../panel-error.ts';
import { LANES, type Lane } from './job-kind.ts';
import type { LiveJob } from './live-job.ts';

const MAX_QUEUED = 20;

/** Jobs that wait, by lane. An account that fills the queue keeps no other one out: each has a place, and a turn. */
export class JobQueue {
  readonly #waiting: Record<Lane, LiveJob[]> = { switch: [], work: [] };
  /** Account whose job was taken last. */
  readonly #last: Record<Lane, number | null> = { switch: null, work: null };

  /** @throws PanelError `jobs.full` */
  checkRoom(accountId: number): void {
    const waiting = LANES.flatMap((lane) => this.#waiting[lane]);
    const hasOwn = waiting.some(({ record }) => record.accountId === accountId);
    if (hasOwn && waiting.length >= MAX_QUEUED) throw new PanelError('jobs.full');
  }

  /** A job that a crash has cut off after its switch comes first. */
  add(lane: Lane, job: LiveJob): void {
    if (job.record.isCommitted) this.#waiting[lane].unshift(job);
    else this.#waiting[lane].push(job);
  }

  take(lane: Lane): LiveJob | undefined {
    const isNext = ({ record }: LiveJob) => record.isCommitted || record.accountId !== this.#last[lane];
    const [job] = this.#waiting[lane].splice(Math.max(0, this.#waiting[lane].findIndex(isNext)), 1);
    if (job !== undefined) this.#last[lane] = job.record.accountId;
    return job;
  }

  remove(job: LiveJob): void {
    for (const lane of LANES) this.#waiting[lane] = this.#waiting[lane].filter((waiting) => waiting !== job);
  }
}
