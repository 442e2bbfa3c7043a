import { PanelError } from '../panel-error.ts';
import type { RunResult } from '../shapes/schedule.ts';
import type { EntryStore, StoredEntry } from './entry-store.ts';
import { occurrencesAfter } from './occurrences.ts';

/** Beyond this an occurrence is missed. */
const LATEST_MS = 60_000;
/** After a longer time away, occurrences before it are not told one by one. */
const LOOK_BACK_MS = 7 * 86_400_000;

export interface Occurrence {
  readonly entry: StoredEntry;
  readonly plannedAt: number;
  /** Later than planned after a delay. */
  readonly at: number;
}

export interface Due {
  readonly occurrence: Occurrence | null;
  /** Latest occurrence that was missed; null: none. */
  readonly missedAt: number | null;
}

/** The next occurrence, as it was counted from these. */
interface Known {
  readonly entry: StoredEntry;
  readonly from: number;
  readonly startedAt: number | null;
  readonly next: Occurrence | null;
}

/** The entries and their next occurrences: an occurrence is its entry and its planned moment, and is closed once, on disk. */
export class Plan {
  readonly #store: EntryStore;
  /** Epoch milliseconds of the server's start; null: it does not run. */
  readonly #startedAt: () => number | null;
  /** Planned moments up to here are closed, by entry. */
  readonly #closedUntil = new Map<string, number>();
  readonly #known = new Map<string, Known>();
  #entries: readonly StoredEntry[] = [];

  constructor(store: EntryStore, startedAt: () => number | null) {
    this.#store = store;
    this.#startedAt = startedAt;
  }

  get entries(): readonly StoredEntry[] {
    return this.#entries;
  }

  /** @param seenAt when the schedule was last looked at */
  open(seenAt: number): void {
    this.#entries = this.#store.list();
    for (const { id, changedAt } of this.#entries) this.#closedUntil.set(id, Math.max(changedAt, seenAt));
  }

  /** @throws PanelError `schedule.unknown` */
  find(id: unknown): StoredEntry {
    const entry = this.#entries.find((one) => one.id === id);
    if (entry === undefined) throw new PanelError('schedule.unknown', { field: 'id' });
    return entry;
  }

  /** A new entry, or one that was changed: its times count from now on. */
  add(entry: StoredEntry): void {
    this.put(entry);
    this.#closedUntil.set(entry.id, entry.changedAt);
  }

  put(entry: StoredEntry): void {
    this.#store.save(entry);
    this.#replace(entry);
  }

  remove({ id }: StoredEntry): void {
    this.#store.remove(id);
    this.#entries = this.#entries.filter((one) => one.id !== id);
    this.#closedUntil.delete(id);
    this.#known.delete(id);
  }

  /** null: never, or it is switched off. Asked for every second, so it is counted again only after a change. */
  next(entry: StoredEntry): Occurrence | null {
    const [from, startedAt] = [this.#closedUntil.get(entry.id) ?? entry.changedAt, this.#startedAt()];
    const known = this.#known.get(entry.id);
    if (known?.entry === entry && known.from === from && known.startedAt === startedAt) return known.next;
    const next = this.#find(entry, from, startedAt);
    this.#known.set(entry.id, { entry, from, startedAt, next });
    return next;
  }

  #find(entry: StoredEntry, after: number, startedAt: number | null): Occurrence | null {
    let from = after;
    while (entry.enabled) {
      const [next] = occurrencesAfter(entry, from, 1, startedAt);
      if (next === undefined) return null;
      const { delay } = entry;
      const at = delay?.plannedAt === next.at ? delay.at : next.at;
      if (!this.#store.isClosed(entry.id, next.at)) return { entry, plannedAt: next.at, at };
      from = next.at;
    }
    return null;
  }

  /**
   * The occurrence that is due; those before it that are too late are closed.
   *
   * @param isWaiting it was seen in time, and waits for other work
   */
  due({ id }: StoredEntry, now: number, isWaiting: boolean): Due {
    // A clock that was set back: what is closed stays closed, and the rest comes at its time.
    if ((this.#closedUntil.get(id) ?? now) > now) this.#closedUntil.set(id, now);
    const first = this.next(this.find(id));
    if (first !== null && first.at < now - LOOK_BACK_MS) this.#closedUntil.set(id, now - LOOK_BACK_MS);
    let missedAt: number | null = null;
    for (;;) {
      const next = this.next(this.find(id));
      if (next === null || next.at > now) return { occurrence: null, missedAt };
      if (isWaiting || now - next.at <= LATEST_MS) return { occurrence: next, missedAt };
      this.end(next, 'missed');
      missedAt = next.at;
    }
  }

  end({ entry, plannedAt }: Pick<Occurrence, 'entry' | 'plannedAt'>, result: RunResult): void {
    const after = { ...entry, delay: null, enabled: entry.enabled && entry.when.kind !== 'once' };
    this.#store.close(after, { at: plannedAt, result });
    this.#replace(after);
    this.#closedUntil.set(entry.id, Math.max(this.#closedUntil.get(entry.id) ?? 0, plannedAt));
  }

  /** Work that was begun has failed since; its entry may be another one by now, or gone. */
  fail({ entry: { id }, plannedAt }: Pick<Occurrence, 'entry' | 'plannedAt'>): void {
    if (this.#entries.some((entry) => entry.id === id)) this.#store.note(id, { at: plannedAt, result: 'failed' });
  }

  #replace(entry: StoredEntry): void {
    const others = this.#entries.filter(({ id }) => id !== entry.id);
    this.#entries = [...others, entry].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
