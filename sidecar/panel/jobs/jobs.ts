import { randomBytes } from 'node:crypto';
import type { Access } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import type { JobAnswer, JobView } from '../shapes/jobs.ts';
import type { Permission } from '../shapes/permissions.ts';
import { Turn } from '../turn.ts';
import { type JobCaller, type JobKind, type JobOutcome, LANES, type Lane } from './job-kind.ts';
import type { JobLogs } from './job-log.ts';
import { JobQueue } from './job-queue.ts';
import type { JobRecord, JobStore } from './job-store.ts';
import { type AnyKind, isAllowed, mayRead } from './kind-rights.ts';
import { LiveJob } from './live-job.ts';

/** Changes of progress and message within this time are one report. */
const GATHER_MS = 250;
/** Longest wait for running work at the end of the panel. */
const CLOSE_MS = 5000;

export interface JobsOptions {
  readonly store: JobStore;
  readonly logs: JobLogs;
  /** Current rights of an account; null if it is gone or disabled. */
  readonly permissionsOf: (accountId: number) => ReadonlySet<Permission> | null;
  /** Faults that no request can report. */
  readonly onTrouble: (error: unknown) => void;
  readonly now: () => number;
}

type Listener = (view: JobView, access: Access) => void;

/** Long work of accounts, in two lanes with one running job each. A job is stored, and so is each of its steps. */
export class Jobs {
  /** Place of the running job of the lane `switch`; a job of the other lane takes it for its last step. */
  readonly switching = new Turn();
  readonly #options: JobsOptions;
  readonly #kinds = new Map<string, AnyKind>();
  readonly #live = new Map<string, LiveJob>();
  readonly #queue = new JobQueue();
  readonly #running: Record<Lane, Promise<void> | null> = { switch: null, work: null };
  readonly #listeners = new Set<Listener>();
  readonly #told = new Map<string, NodeJS.Timeout>();
  /** Last lines of ended jobs, on their way to the file. */
  readonly #flushing = new Map<string, Promise<void>>();
  #isOpen = false;
  #isClosed = false;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** Before `open`. */
  define<Input>(kind: JobKind<Input>): void {
    this.#kinds.set(kind.kind, kind as unknown as AnyKind);
  }

  /** Judges the jobs that an earlier run of the panel has not ended, and starts the lanes. */
  open(): void {
    const { store, logs } = this.#options;
    for (const record of store.unfinished()) {
      if (!this.#live.has(record.id)) this.#takeUp(record);
    }
    this.#trim();
    logs.keepOnly(new Set(store.list().map(({ id }) => id)));
    this.#isOpen = true;
    for (const lane of LANES) this.#pump(lane);
  }

  /** No job runs or waits. */
  get isIdle(): boolean {
    return this.#live.size === 0;
  }

  /** A job of this kind waits or runs. */
  hasLive(kind: string): boolean {
    return [...this.#live.values()].some(({ record }) => record.kind === kind);
  }

  /** Called with each change of state at once, else four times a second at most. */
  onChange(listener: Listener): void {
    this.#listeners.add(listener);
  }

  /** @throws PanelError `permission.missing`, `bundleTools.busy`, `jobs.full` */
  start(kindName: string, input: unknown, caller: JobCaller): JobView {
    const kind = this.#kinds.get(kindName);
    if (kind === undefined) throw new Error(`there is no job of the kind ${kindName}`);
    if (!isAllowed(kind, input, caller.permissions)) throw new PanelError('permission.missing');
    const subjects = kind.subjects(input);
    const held = this.#holderOf(subjects);
    if (held !== null)
      throw new PanelError('bundleTools.busy', { detail: `${held.subject} is held by a job: ${held.kind}` });
    this.#queue.checkRoom(caller.accountId);
    const { now, store } = this.#options;
    const record: JobRecord = {
      ...{ id: randomBytes(12).toString('hex'), kind: kindName, input, subjects },
      ...{ accountId: caller.accountId, username: caller.username, state: 'queued', isCommitted: false },
      ...{ progress: 0, message: '', error: null, outcome: null },
      ...{ queuedAt: now(), startedAt: null, endedAt: null },
    };
    store.save(record);
    this.#enqueue(kind, record);
    this.#trim();
    return this.#viewOf(record);
  }

  /** @throws PanelError `bundleTools.unknown`, `permission.missing` */
  async get(id: string, caller: JobCaller, after = 0): Promise<JobAnswer> {
    const { store, logs } = this.#options;
    const record = this.#readable(id, caller);
    await (this.#live.get(id)?.flushLog() ?? this.#flushing.get(id));
    return {
      status: this.#viewOf(this.#live.get(id)?.record ?? store.find(id) ?? record),
      ...(await logs.read(id, after)),
    };
  }

  /** @throws PanelError `bundleTools.unknown`, `permission.missing`, `jobs.committed` */
  cancel(id: string, caller: JobCaller): JobView {
    this.#readable(id, caller);
    const job = this.#live.get(id);
    if (job === undefined || !job.canCancel) throw new PanelError('jobs.committed');
    this.#cancel(job, caller.username);
    return this.#viewOf(job.record);
  }

  /** Jobs that the caller may read, the newest first. */
  list(caller: JobCaller): JobView[] {
    return this.#options.store
      .list()
      .filter(({ kind }) => mayRead(this.#kinds.get(kind), caller.permissions))
      .map((record) => this.#viewOf(this.#live.get(record.id)?.record ?? record));
  }

  /** False for a job that a crash has cut off, before `open`. */
  hasEnded(id: string): boolean {
    return this.#find(id)?.endedAt !== null;
  }

  /** Whether the job can be read while the bundle tools are off. */
  isWithoutSwitch(id: string): boolean {
    const record = this.#find(id);
    return record !== null && this.#kinds.get(record.kind)?.withoutSwitch === true;
  }

  /** The bundle tools were turned off: ends what has not committed. */
  cancelSwitched(username: string): void {
    for (const job of [...this.#live.values()]) {
      const isBound = this.#kinds.get(job.record.kind)?.withoutSwitch !== true;
      if (isBound && job.canCancel) this.#cancel(job, username);
    }
  }

  /** Before the store closes. Committed jobs continue at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#told.values()) clearTimeout(timer);
    for (const job of this.#live.values()) job.close();
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    await Promise.race([Promise.all(LANES.map((lane) => this.#running[lane])), late]);
  }

  #takeUp(record: JobRecord): void {
    const kind = this.#kinds.get(record.kind);
    const isToResume = record.isCommitted && kind?.resume !== undefined;
    if (isToResume && kind !== undefined) {
      this.#enqueue(kind, record);
      return;
    }
    const job = this.#newJob(record);
    this.#live.set(record.id, job);
    const text = 'the sidecar ended while this job ran';
    job.fail(record.isCommitted ? `${text}, after it had switched` : `${text}; nothing was changed`);
  }

  #enqueue({ lane }: AnyKind, record: JobRecord): void {
    const job = this.#newJob(record);
    this.#live.set(record.id, job);
    this.#queue.add(lane, job);
    this.#tell(job);
    this.#pump(lane);
  }

  #newJob(record: JobRecord): LiveJob {
    const { store, logs, now } = this.#options;
    return new LiveJob(record, store.steps(record.id), {
      ...{ store, now, log: logs.open(record.id) },
      onChange: (job, isState) => this.#changed(job, isState),
      mayRun: (job) => this.#mayRun(job),
    });
  }

  #pump(lane: Lane): void {
    if (!this.#isOpen || this.#isClosed || this.#running[lane] !== null) return;
    const job = this.#queue.take(lane);
    if (job === undefined) return;
    const kind = this.#kinds.get(job.record.kind) as AnyKind;
    const work = job.record.isCommitted ? kind.resume?.bind(kind) : kind.run.bind(kind);
    this.#running[lane] = this.#runIn(lane, job, work ?? kind.run.bind(kind))
      .catch((error) => this.#options.onTrouble(error))
      .finally(() => {
        this.#running[lane] = null;
        this.#pump(lane);
      });
  }

  async #runIn(lane: Lane, job: LiveJob, work: (job: LiveJob) => Promise<JobOutcome>): Promise<void> {
    const release = lane === 'switch' ? await this.switching.take() : null;
    try {
      if (job.record.endedAt === null) await job.run(work);
    } finally {
      release?.();
    }
  }

  #cancel(job: LiveJob, username: string): void {
    job.cancel(username);
    this.#queue.remove(job);
  }

  #changed(job: LiveJob, isState: boolean): void {
    const isEnded = job.record.endedAt !== null;
    if (isEnded) this.#leave(job);
    if (isState) this.#tell(job);
    else if (!this.#told.has(job.id)) {
      const timer = setTimeout(() => this.#tell(job), GATHER_MS).unref();
      this.#told.set(job.id, timer);
    }
  }

  #leave(job: LiveJob): void {
    this.#live.delete(job.id);
    const flushed = job.flushLog().finally(() => this.#flushing.delete(job.id));
    this.#flushing.set(job.id, flushed);
  }

  #tell(job: LiveJob): void {
    clearTimeout(this.#told.get(job.id));
    this.#told.delete(job.id);
    const access = this.#kinds.get(job.record.kind)?.access;
    if (access === undefined || this.#isClosed) return;
    for (const listener of this.#listeners) listener(this.#viewOf(job.record), access);
  }

  #mayRun({ record }: LiveJob): boolean {
    const kind = this.#kinds.get(record.kind);
    const permissions = this.#options.permissionsOf(record.accountId);
    // A committed job is finished, whatever its account may meanwhile.
    if (record.isCommitted) return true;
    return kind !== undefined && permissions !== null && isAllowed(kind, record.input, permissions);
  }

  /** A job of this name that the caller may read. */
  #readable(id: string, caller: JobCaller): JobRecord {
    const record = this.#find(id);
    if (record === null) throw new PanelError('bundleTools.unknown', { field: 'id' });
    if (!mayRead(this.#kinds.get(record.kind), caller.permissions)) throw new PanelError('permission.missing');
    return record;
  }

  #find(id: string): JobRecord | null {
    return this.#live.get(id)?.record ?? (/^[0-9a-f]{24}$/.test(id) ? this.#options.store.find(id) : null);
  }

  #holderOf(subjects: readonly string[]): { readonly subject: string; readonly kind: string } | null {
    const wanted = new Set(subjects.map(sameName));
    for (const { record } of this.#live.values()) {
      const subject = record.subjects.find((held) => wanted.has(sameName(held)));
      if (subject !== undefined) return { subject, kind: record.kind };
    }
    return null;
  }

  #trim(): void {
    for (const id of this.#options.store.trim(this.#options.now())) this.#options.logs.remove(id);
  }

  #viewOf(record: JobRecord): JobView {
    const { id, kind, state, progress, message, outcome, subjects, username: by, error } = record;
    const job = this.#live.get(id);
    return {
      ...{ id, kind, state, progress, message, outcome, subjects, by, error },
      queuedAt: new Date(record.queuedAt).toISOString(),
      startedAt: timeOf(record.startedAt),
      endedAt: timeOf(record.endedAt),
      canCancel: job?.canCancel ?? false,
    };
  }
}

/** Folders whose names differ only by case, or by the form of their letters, are one on some disks. */
function sameName(subject: string): string {
  return subject.normalize('NFC').toLowerCase();
}

function timeOf(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
