import { PanelError } from '../panel-error.ts';
import { JobFailed, type JobOutcome, type JobStep, type RunningJob } from './job-kind.ts';
import type { JobLog } from './job-log.ts';
import type { JobRecord, JobState, JobStore } from './job-store.ts';
import { redact, redactedLines } from './redact.ts';

export interface LiveJobParts {
  readonly store: JobStore;
  readonly log: JobLog;
  /** Called at each change; `isState`: the state has changed, else only progress or message. */
  readonly onChange: (job: LiveJob, isState: boolean) => void;
  /** Whether its account still has the right. */
  readonly mayRun: (job: LiveJob) => boolean;
  readonly now: () => number;
}

/** Ends the work of a job that was cancelled, or whose panel ends. Never the reason of a failure. */
class JobStopped extends Error {
  override readonly name = 'AbortError';
}

const UNCHANGED = 'nothing was changed';

/** A job from its start, or its continuation after a crash, to its end. */
export class LiveJob implements RunningJob {
  readonly #parts: LiveJobParts;
  readonly #abort = new AbortController();
  readonly #secrets = new Set<string>();
  readonly #steps: JobStep[];
  #record: JobRecord;
  #isClosing = false;
  #cancelledBy: string | null = null;

  constructor(record: JobRecord, steps: readonly JobStep[], parts: LiveJobParts) {
    this.#record = record;
    this.#steps = [...steps];
    this.#parts = parts;
  }

  get record(): JobRecord {
    return this.#record;
  }

  get id(): string {
    return this.#record.id;
  }

  get input(): unknown {
    return this.#record.input;
  }

  get by(): RunningJob['by'] {
    const { accountId, username } = this.#record;
    return { accountId, username };
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get steps(): readonly JobStep[] {
    return this.#steps;
  }

  get canCancel(): boolean {
    return !this.#record.isCommitted && this.#record.endedAt === null;
  }

  log(text: string): void {
    if (this.#isClosing) return;
    const lines = redactedLines(text, this.#secrets);
    for (const line of lines) this.#parts.log.add(line);
    const message = lines.at(-1);
    if (message !== undefined) this.#change({ message }, false);
  }

  progress(share: number): void {
    const progress = Math.min(1, Math.max(0, share));
    if (!this.#isClosing && progress !== this.#record.progress) this.#change({ progress }, false);
  }

  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  step(name: string, data: JobStep['data'] = {}): void {
    this.#checkOpen();
    this.#parts.store.addStep(this.id, { name, data });
    this.#steps.push({ name, data });
  }

  commit(): void {
    this.#checkOpen();
    if (this.#record.isCommitted) return;
    this.signal.throwIfAborted();
    if (!this.#parts.mayRun(this)) throw new PanelError('permission.missing');
    this.#parts.store.save({ ...this.#record, isCommitted: true });
    this.#change({ isCommitted: true }, true);
  }

  /** Before `commit` alone. A queued job ends at once, a running one when its work has noticed. */
  cancel(username: string): void {
    this.#cancelledBy = username;
    this.#abort.abort(new JobStopped('cancelled'));
    if (this.#record.state === 'queued') this.#end('cancelled', this.#cancelText());
  }

  /** The panel ends: work that waits stops waiting, and nothing more is written down. */
  close(): void {
    this.#isClosing = true;
    this.#abort.abort(new JobStopped('the panel ends'));
  }

  /** Runs the work to its end. Rejects only if the end cannot be written down. */
  async run(work: (job: LiveJob) => Promise<JobOutcome>): Promise<void> {
    // After the answer to the request that starts the job.
    await Promise.resolve();
    try {
      this.#begin();
      const outcome = await work(this);
      const isLate = this.#cancelledBy !== null && !this.#record.isCommitted;
      this.#end('succeeded', isLate ? `the cancel by ${this.#cancelledBy} came too late` : '', outcome);
    } catch (error) {
      if (this.#isClosing) return;
      const isCancelled = this.#cancelledBy !== null && !this.#record.isCommitted;
      if (isCancelled) this.#end('cancelled', this.#cancelText());
      else this.#fail(error);
    } finally {
      await this.#parts.log.flush();
    }
  }

  flushLog(): Promise<void> {
    return this.#parts.log.flush();
  }

  /** Ends a job that a crash has interrupted, or that may not begin. */
  fail(message: string): void {
    this.#end('failed', message);
  }

  #begin(): void {
    if (!this.#parts.mayRun(this)) throw new PanelError('permission.missing');
    this.#change({ state: 'running', startedAt: this.#record.startedAt ?? this.#parts.now() }, true);
    this.#parts.store.save(this.#record);
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const key = error instanceof PanelError ? error.key : null;
    const outcome = error instanceof JobFailed ? error.outcome : null;
    this.#end('failed', message, outcome, key);
  }

  #end(state: JobState, message: string, outcome: JobOutcome | null = null, error: string | null = null): void {
    if (this.#isClosing || this.#record.endedAt !== null) return;
    const last = redactedLines(message, this.#secrets)[0] ?? this.#record.message;
    if (message !== '') this.#parts.log.add(redact(message, this.#secrets).replaceAll('\n', ' '));
    const progress = state === 'succeeded' ? 1 : this.#record.progress;
    const ended = { state, message: last, outcome, error, progress, endedAt: this.#parts.now() };
    this.#record = { ...this.#record, ...ended };
    // A full disk: the store keeps the end; after a crash the next start judges the job by its steps.
    try {
      this.#parts.store.save(this.#record);
    } finally {
      this.#parts.onChange(this, true);
    }
  }

  #cancelText(): string {
    return `cancelled by ${this.#cancelledBy}; ${UNCHANGED}`;
  }

  #change(change: Partial<JobRecord>, isState: boolean): void {
    this.#record = { ...this.#record, ...change };
    this.#parts.onChange(this, isState);
  }

  #checkOpen(): void {
    if (this.#isClosing || !this.#parts.store.isOpen) throw new JobStopped('the panel ends');
  }
}
