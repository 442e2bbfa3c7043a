import { randomUUID } from 'node:crypto';
import { PanelError } from '../panel-error.ts';
import type { JobStatus } from '../shapes/jobs.ts';
import { problemForOwner } from './install-refused.ts';

/** What the work of a job is given. */
export interface JobTask {
  readonly signal: AbortSignal;
  /** @param progress 0 to 1 */
  readonly tell: (progress: number, message: string) => void;
}

/** One job at a time; what became of the last one stays readable. */
export class InstallJob {
  #status: JobStatus | null = null;
  #abort: AbortController | null = null;
  #work: Promise<void> = Promise.resolve();

  get status(): JobStatus | null {
    return this.#status;
  }

  /** @throws PanelError `setup.busy` while one runs */
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

  /** Ends it as far as it has not begun to put things in place; what it had made until then goes again. */
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
  /** What was put there, and what was there already and stays: paths, relative to the root. */
  readonly made: readonly string[];
  readonly kept: readonly string[];
  /** What the owner still has to do. */
  readonly notes: readonly string[];
  /** Of FXServer, where its program was found. */
  readonly startLine: string;
}
