import type { RunResult, ScheduleEntry } from '../shapes/schedule.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { EntryFields } from './entry-input.ts';

/** A stored entry. */
export interface StoredEntry extends EntryFields {
  readonly id: string;
  /** Epoch milliseconds: nothing before it is due. */
  readonly changedAt: number;
  /** An occurrence that was put off, and the moment to which; null: none. */
  readonly delay: { readonly plannedAt: number; readonly at: number } | null;
}

interface Run {
  readonly at: number;
  readonly result: RunResult;
}

/** Runs that are kept of an entry: a clock that is set back further than these would repeat one. */
const KEPT_RUNS = 1000;

/** Entries, and each occurrence once it was done, skipped or missed. */
export class EntryStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  list(): StoredEntry[] {
    const rows = this.#store.prepare('SELECT record FROM schedule_entries ORDER BY id').all() as { record: string }[];
    return rows.map(({ record }) => JSON.parse(record) as StoredEntry);
  }

  save(entry: StoredEntry): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO schedule_entries (id, record) VALUES (?, ?)')
      .run(entry.id, JSON.stringify(entry));
  }

  remove(id: string): void {
    this.#store.transaction(() => {
      this.#store.prepare('DELETE FROM schedule_entries WHERE id = ?').run(id);
      this.#store.prepare('DELETE FROM schedule_runs WHERE entry = ?').run(id);
    })();
  }

  /** The entry as it is from now on and the end of its occurrence, in one transaction. */
  close(entry: StoredEntry, { at, result }: Run): void {
    this.#store.transaction(() => {
      this.note(entry.id, { at, result });
      this.#store
        .prepare(
          'DELETE FROM schedule_runs WHERE entry = ? AND at NOT IN (SELECT at FROM schedule_runs WHERE entry = ? ORDER BY at DESC LIMIT ?)',
        )
        .run(entry.id, entry.id, KEPT_RUNS);
      this.save(entry);
    })();
  }

  /** The result of an occurrence alone. */
  note(id: string, { at, result }: Run): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO schedule_runs (entry, at, result) VALUES (?, ?, ?)')
      .run(id, at, result);
  }

  isClosed(id: string, at: number): boolean {
    return this.#store.prepare('SELECT 1 FROM schedule_runs WHERE entry = ? AND at = ?').get(id, at) !== undefined;
  }

  lastRun(id: string): ScheduleEntry['lastRun'] {
    const row = this.#store
      .prepare('SELECT at, result FROM schedule_runs WHERE entry = ? ORDER BY at DESC LIMIT 1')
      .get(id) as Run | undefined;
    return row === undefined ? null : { at: new Date(row.at).toISOString(), result: row.result };
  }

  /** The clock when the schedule was last looked at, epoch milliseconds; null before the first time. */
  get clock(): number | null {
    const row = this.#store.prepare('SELECT at FROM schedule_clock').get() as { at: number } | undefined;
    return row?.at ?? null;
  }

  set clock(at: number) {
    this.#store.prepare('INSERT OR REPLACE INTO schedule_clock (id, at) VALUES (1, ?)').run(at);
  }
}
