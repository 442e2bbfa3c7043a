import { randomUUID } from 'node:crypto';
import { PanelError } from '../panel-error.ts';
import type { JobStatus } from '../shapes/jobs.ts';
import { problemForOwner } from './install-refused.ts';

/** Handle of a running job. */
export interface JobTask {
  readonly signal: AbortSignal;
  /** @param progress 0 to 1 */
  readonly tell: (progress: number, message: string) => void;
}

/** Runs one job at a time; the result of the last job stays readable. */
export class InstallJob {
  #status: JobStatus | null = null;
  #abort: AbortController | null = null;
  #work: Promise<void> = Promise.resolve();

  get status(): JobStatus | null {
    return this.#status;
  }

  /** @throws PanelError `setup.busy` if a job runs */
  start(kind: string, work: (task: JobTask) => Promise<unknown>): JobStatus {
    if (this.#abort !== null) throw new PanelError('setup.busy');
    const abort = new AbortController();
    this.#abort = abort;
    const status: JobStatus = {
      ...{ id: randomUUID(), kind, state: 'running', progress: 0, message: 'begins', outcome: null },
    };
    this.#status = status;
    this.#work = this.#run(work, abort);
    return status;
  }

  /** Cancels a job that has not begun to put files in place, and deletes the files that it has prepared. */
  cancel(): JobStatus | null {
    this.#abort?.abort();
    return this.#status;
  }

  async close(): Promise<void> {
    this.cancel();
    await this.#work;
  }

  async #run(work: (task: JobTask) => Promise<unknown>, abort: AbortController): Promise<void> {
    const tell = (progress: number, message: string) => this.#change({ progress, message });
    try {
      const outcome = await work({ signal: abort.signal, tell });
      this.#change({ state: 'succeeded', progress: 1, message: 'done', outcome });
    } catch (error) {
      if (abort.signal.aborted) this.#change({ state: 'cancelled', message: 'cancelled; nothing was left behind' });
      else this.#change({ state: 'failed', message: problemForOwner(error) });
    } finally {
      this.#abort = null;
    }
  }

  #change(change: Partial<JobStatus>): void {
    if (this.#status !== null) this.#status = { ...this.#status, ...change };
  }
}

export interface Installed {
  readonly serverRoot: string;
  /** Paths relative to the root: `made` by the installation, `kept` because they existed. */
  readonly made: readonly string[];
  readonly kept: readonly string[];
  /** Tasks that remain for the owner. */
  readonly notes: readonly string[];
  /** Start line of FXServer if its program was found, else empty. */
  readonly startLine: string;
}
