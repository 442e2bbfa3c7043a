import type { PanelStore } from '../store/panel-store.ts';
import type { JobStep } from './job-kind.ts';

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface JobRecord {
  readonly id: string;
  readonly kind: string;
  readonly input: unknown;
  readonly subjects: readonly string[];
  readonly accountId: number;
  readonly username: string;
  readonly state: JobState;
  readonly isCommitted: boolean;
  readonly progress: number;
  readonly message: string;
  readonly error: string | null;
  readonly outcome: unknown;
  /** Epoch milliseconds. */
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** Ended jobs beyond these bounds are removed. */
const MAX_JOBS = 200;
const MAX_AGE_MS = 30 * 24 * 3_600_000;

interface Row {
  readonly id: string;
  readonly record: string;
}

/** Reads and writes rows of `jobs` and `job_steps`. */
export class JobStore {
  readonly #store: PanelStore;
  /** Ends of jobs that a full disk has kept from their rows: at most one a lane, and the jobs that waited. */
  readonly #late = new Map<string, JobRecord>();

  constructor(store: PanelStore) {
    this.#store = store;
  }

  get isOpen(): boolean {
    return this.#store.open;
  }

  /** An end that cannot be written is kept for the next read. @throws the error of the store */
  save(record: JobRecord): void {
    try {
      this.#write(record);
      this.#late.delete(record.id);
    } catch (error) {
      if (record.endedAt !== null) this.#late.set(record.id, record);
      throw error;
    }
  }

  #write(record: JobRecord): void {
    this.#store
      .prepare(
        `INSERT INTO jobs (id, queued_at, is_ended, record) VALUES (@id, @queuedAt, @isEnded, @record)
          ON CONFLICT (id) DO UPDATE SET is_ended = @isEnded, record = @record`,
      )
      .run({
        id: record.id,
        queuedAt: record.queuedAt,
        isEnded: record.endedAt === null ? 0 : 1,
        record: JSON.stringify(record),
      });
  }

  addStep(id: string, { name, data }: JobStep): void {
    this.#store
      .prepare('INSERT INTO job_steps (job_id, name, data) VALUES (?, ?, ?)')
      .run(id, name, JSON.stringify(data));
  }

  steps(id: string): JobStep[] {
    const rows = this.#store.prepare('SELECT name, data FROM job_steps WHERE job_id = ? ORDER BY id').all(id);
    return (rows as { name: string; data: string }[]).map(({ name, data }) => ({ name, data: JSON.parse(data) }));
  }

  find(id: string): JobRecord | null {
    this.#writeLate();
    const late = this.#late.get(id);
    if (late !== undefined) return late;
    const row = this.#store.prepare('SELECT record FROM jobs WHERE id = ?').get(id) as Row | undefined;
    return row === undefined ? null : (JSON.parse(row.record) as JobRecord);
  }

  /** The newest first. */
  list(): JobRecord[] {
    this.#writeLate();
    const records = this.#records('SELECT record FROM jobs ORDER BY queued_at DESC, rowid DESC');
    return records.map((record) => this.#late.get(record.id) ?? record);
  }

  /** Jobs that an earlier run of the panel has not ended, the oldest first. */
  unfinished(): JobRecord[] {
    return this.#records('SELECT record FROM jobs WHERE is_ended = 0 ORDER BY queued_at, rowid');
  }

  /** Removes ended jobs beyond the bounds. Returns their ids. */
  trim(nowEpochMs: number): string[] {
    const gone = this.#store
      .prepare(
        `DELETE FROM jobs WHERE is_ended = 1 AND (queued_at < @oldest OR id NOT IN
          (SELECT id FROM jobs ORDER BY queued_at DESC, rowid DESC LIMIT @most)) RETURNING id`,
      )
      .all({ oldest: nowEpochMs - MAX_AGE_MS, most: MAX_JOBS }) as Pick<Row, 'id'>[];
    return gone.map(({ id }) => id);
  }

  #writeLate(): void {
    for (const record of this.#late.values()) {
      try {
        this.save(record);
      } catch {
        // The disk is still full.
        return;
      }
    }
  }

  #records(sql: string): JobRecord[] {
    return (this.#store.prepare(sql).all() as Row[]).map(({ record }) => JSON.parse(record) as JobRecord);
  }
}
