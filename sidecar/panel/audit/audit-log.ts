import type { PanelStore } from '../store/panel-store.ts';

export interface AuditEntry {
  readonly id: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  /** Empty where nobody was signed in. */
  readonly username: string;
  readonly action: string;
  readonly subject: string;
  readonly address: string;
  /** `ok`, or the key of the refusal. */
  readonly result: string;
}

export type AuditNote = Omit<AuditEntry, 'id' | 'time'>;

/** Refusals have a bound of their own, so that whoever is refused a thousand times pushes out nothing that was done. */
export interface AuditBounds {
  readonly done: number;
  readonly refused: number;
}

const BOUNDS: AuditBounds = { done: 50_000, refused: 10_000 };
/** Rows beyond the bounds are removed now and then, not with every entry. */
const TRIM_EVERY = 200;
const LONGEST_SUBJECT = 500;

/** What was done, by whom: written by the panel itself, changed by no route. */
export class AuditLog {
  readonly #store: PanelStore;
  readonly #now: () => number;
  readonly #bounds: AuditBounds;
  #sinceTrim = 0;

  constructor(store: PanelStore, now: () => number, bounds = BOUNDS) {
    this.#store = store;
    this.#now = now;
    this.#bounds = bounds;
  }

  write(note: AuditNote): void {
    this.#store
      .prepare('INSERT INTO audit (time, username, action, subject, address, result) VALUES (?, ?, ?, ?, ?, ?)')
      .run(this.#now(), note.username, note.action, shown(note.subject), note.address, note.result);
    this.#sinceTrim += 1;
    if (this.#sinceTrim >= TRIM_EVERY) this.#trim();
  }

  /** Newest first; `before` is the id that a page ended with. */
  page(before: number | null, limit: number): AuditEntry[] {
    const rows = this.#store
      .prepare('SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?')
      .all(before ?? Number.MAX_SAFE_INTEGER, limit) as (Omit<AuditEntry, 'time'> & { time: number })[];
    return rows.map((row) => ({ ...row, time: new Date(row.time).toISOString() }));
  }

  #trim(): void {
    this.#sinceTrim = 0;
    for (const [isDone, most] of [
      [1, this.#bounds.done],
      [0, this.#bounds.refused],
    ]) {
      this.#store
        .prepare(
          `DELETE FROM audit WHERE (result = 'ok') = ? AND id <=
            (SELECT id FROM audit WHERE (result = 'ok') = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
        )
        .run(isDone, isDone, most);
    }
  }
}

/** One line, however it was sent. */
function shown(subject: string): string {
  return subject.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, LONGEST_SUBJECT);
}
