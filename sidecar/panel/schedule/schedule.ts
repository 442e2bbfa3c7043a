import { randomBytes } from 'node:crypto';
import { localText } from '../local-time.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { Permission } from '../shapes/permissions.ts';
import type {
  PlannedRestart,
  PreviewedTime,
  ScheduleAction,
  ScheduleAnswer,
  ScheduleEntry,
} from '../shapes/schedule.ts';
import { ACTION_PERMISSION, type EntryFields, readEntry, readMinutes, readMoment, readTiming } from './entry-input.ts';
import type { EntryStore, StoredEntry } from './entry-store.ts';
import { ACTOR, OccurrenceRunner, type RunnerOptions } from './occurrence-runner.ts';
import { occurrencesAfter } from './occurrences.ts';
import { type Occurrence, Plan } from './plan.ts';
import { restartEventLine, skippedEventLine } from './server-events.ts';
import { Warnings, warningLine } from './warnings.ts';

const LOOK_MS = 1000;
const STORE_CLOCK_MS = 60_000;
const MAX_ENTRIES = 50;
const PREVIEWED = 10;
const USUAL_DELAY_MINUTES = 10;
/** Due together: the backup first, and what ends the server last. */
const RANK: Readonly<Record<ScheduleAction, number>> = { backup: 0, command: 1, start: 2, stop: 2, restart: 2 };

export interface ScheduleOptions extends Omit<RunnerOptions, 'plan'> {
  readonly entries: EntryStore;
  readonly settings: PanelSettings;
  readonly announce: (announcement: Announcement) => void;
  /** Epoch milliseconds of the wall clock. */
  readonly now: () => number;
}

/** News of the schedule for those who are told. */
export interface Announcement {
  readonly kind: 'announced' | 'skipped' | 'delayed' | 'missed';
  readonly schedule: string;
  readonly action: ScheduleAction;
  readonly at: string;
  readonly minutes: number | null;
  /** The account; empty: the panel itself. */
  readonly by: string;
}

interface Author {
  readonly username: string;
  readonly permissions: ReadonlySet<Permission>;
}

/** Work by the clock. It looks at the wall clock every second, so that a clock that is set, or a machine that slept, is seen. */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #plan: Plan;
  readonly #runner: OccurrenceRunner;
  readonly #warnings = new Warnings();
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #storedClockAt = 0;
  #isClosed = false;
  /** The next restart, as it was last told. */
  #told = '';

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#plan = new Plan(options.entries, () => this.#startedAt());
    this.#runner = new OccurrenceRunner({ ...options, plan: this.#plan });
  }

  /** Call once the game server's control is open. */
  open(): void {
    // A panel may be stopped while it begins.
    if (this.#isClosed) return;
    clearInterval(this.#timer);
    const { entries, now } = this.#options;
    this.#plan.open(entries.clock ?? now());
    const look = () => this.#options.attempt(() => this.look());
    look();
    this.#timer = setInterval(look, LOOK_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  view(): ScheduleAnswer {
    const { entries, now } = this.#options;
    const shown = this.#plan.entries.map(({ changedAt: _, delay: __, ...entry }): ScheduleEntry => {
      return { ...entry, lastRun: entries.lastRun(entry.id) };
    });
    return { now: new Date(now()).toISOString(), entries: shown, next: this.next() };
  }

  /** The nearest restart. */
  next(): PlannedRestart | null {
    const restarts = this.#plan.entries.filter(({ action }) => action === 'restart');
    const [planned] = restarts.flatMap((entry) => this.#plan.next(entry) ?? []).sort((a, b) => a.at - b.at);
    if (planned === undefined) return null;
    const { entry, at, plannedAt } = planned;
    return {
      ...{ id: entry.id, name: entry.name, action: entry.action },
      ...{ at: new Date(at).toISOString(), plannedAt: new Date(plannedAt).toISOString() },
      waitsFor: this.#runner.isWaiting(entry.id) ? this.#options.waitsFor() : null,
    };
  }

  /** Returns the entry's id. @throws PanelError `schedule.<field>`, `schedule.unknown`, `schedule.tooMany`, `permission.missing` */
  save(given: Readonly<Record<string, unknown>>, author: Author): string {
    const changedAt = this.#options.now();
    const earlier = given.id === undefined ? null : this.#plan.find(given.id);
    if (earlier !== null) checkPermission(earlier.action, author);
    const fields = readEntry(given, earlier, changedAt);
    checkPermission(fields.action, author);
    if (earlier === null && this.#plan.entries.length >= MAX_ENTRIES) throw new PanelError('schedule.tooMany');
    const id = earlier?.id ?? randomBytes(8).toString('hex');
    if (earlier !== null && hasSameTimes(earlier, fields)) this.#plan.put({ ...earlier, ...fields });
    else {
      this.#plan.add({ ...fields, id, changedAt, delay: null });
      this.#forget(id);
    }
    this.#tellChange();
    return id;
  }

  /** @throws PanelError `schedule.unknown` */
  nameOf(id: unknown): string {
    return this.#plan.find(id).name;
  }

  /** @throws PanelError `schedule.unknown`, `permission.missing` */
  remove(id: unknown, author: Author): void {
    const entry = this.#plan.find(id);
    checkPermission(entry.action, author);
    this.#plan.remove(entry);
    this.#forget(entry.id);
    this.#tellChange();
  }

  /** The next ten times. @throws PanelError `schedule.when`, `schedule.timeZone`, `schedule.from` */
  preview(given: { readonly when?: unknown; readonly timeZone?: unknown; readonly from?: unknown }): PreviewedTime[] {
    const timing = readTiming(given);
    const from = given.from === undefined ? this.#options.now() : readMoment(given.from, 'from');
    return occurrencesAfter(timing, from, PREVIEWED, this.#startedAt()).map(({ at, note }) => ({
      ...{ at: new Date(at).toISOString(), local: localText(timing.timeZone, at), note },
    }));
  }

  /** @throws PanelError `schedule.unknown`, `schedule.at`, `schedule.changed` */
  skip(id: unknown, at: unknown, by: string): void {
    const planned = this.#planned(id, at);
    this.#plan.end(planned, 'skipped');
    this.#forget(planned.entry.id);
    this.#announce('skipped', planned, { by });
    this.#type(skippedEventLine(this.#options.settings.values, planned.at - this.#options.now(), by));
    this.#tellChange();
  }

  /** @throws PanelError `schedule.unknown`, `schedule.at`, `schedule.changed` */
  runNow(id: unknown, at: unknown): void {
    const { entry, plannedAt } = this.#planned(id, at);
    this.#plan.put({ ...entry, delay: { plannedAt, at: this.#options.now() } });
    this.look();
  }

  /** @throws PanelError `schedule.unknown`, `schedule.at`, `schedule.changed`, `schedule.minutes` */
  delay(id: unknown, at: unknown, minutes: unknown, by: string): void {
    const lateMs = readMinutes(minutes ?? USUAL_DELAY_MINUTES) * 60_000;
    const planned = this.#planned(id, at);
    // A restart that waits for other work is past its moment: counted from there, the new one may be missed already.
    const delay = { plannedAt: planned.plannedAt, at: Math.max(planned.at, this.#options.now()) + lateMs };
    this.#plan.put({ ...planned.entry, delay });
    this.#forget(planned.entry.id);
    this.#announce('delayed', { ...planned, at: delay.at }, { by });
    this.#tellChange();
  }

  /** Does what is due, and warns of what comes. */
  look(): void {
    const now = this.#options.now();
    const due = this.#plan.entries.flatMap((entry) => this.#dueOf(entry, now) ?? []);
    due.sort((a, b) => RANK[a.entry.action] - RANK[b.entry.action]);
    for (const occurrence of due) {
      const result = this.#runner.run(occurrence, now);
      if (result === 'busy') this.#announce('skipped', occurrence, { by: '' });
      if (result === 'busy' || result === 'failed') this.#tellGivenUp(occurrence);
    }
    for (const entry of this.#plan.entries) this.#warn(entry, now);
    this.#storeClock(now);
    if (JSON.stringify(this.next()) !== this.#told) this.#tellChange();
  }

  #dueOf(entry: StoredEntry, now: number): Occurrence | null {
    const { occurrence, missedAt } = this.#plan.due(entry, now, this.#runner.isWaiting(entry.id));
    if (missedAt !== null) {
      this.#announce('missed', { entry, at: missedAt }, { by: '' });
      this.#tellGivenUp({ entry, at: missedAt });
    }
    return occurrence;
  }

  /** Players who were warned of a restart hear that it does not come. */
  #tellGivenUp({ entry, at }: Pick<Occurrence, 'entry' | 'at'>): void {
    if (entry.action !== 'restart') return;
    this.#type(skippedEventLine(this.#options.settings.values, at - this.#options.now(), 'panel'));
  }

  #warn(entry: StoredEntry, now: number): void {
    const { settings, server } = this.#options;
    const next = entry.warn && (entry.action === 'restart' || entry.action === 'stop') ? this.#plan.next(entry) : null;
    if (next === null) return;
    const warning = this.#warnings.due(entry.id, next.at, now, settings.values.warnMinutes);
    if (warning === null || server.status().state !== 'running') return;
    const { minutes, isFirst } = warning;
    if (isFirst) this.#announce('announced', next, { by: '', minutes });
    this.#type(warningLine(settings.values, minutes));
    if (entry.action === 'restart') this.#type(restartEventLine(settings.values, minutes));
  }

  #type(line: string | null): void {
    const { server } = this.#options;
    if (line === null || server.status().state !== 'running') return;
    try {
      server.sendCommand(line, ACTOR);
    } catch {
      // It has stopped meanwhile, or does not read: no player is there to warn.
    }
  }

  #planned(id: unknown, at: unknown): Occurrence {
    const entry = this.#plan.find(id);
    const wanted = readMoment(at, 'at');
    const next = entry.action === 'restart' ? this.#plan.next(entry) : null;
    if (next?.at !== wanted) throw new PanelError('schedule.changed', { field: 'at' });
    return next;
  }

  #forget(id: string): void {
    this.#runner.forget(id);
    this.#warnings.forget(id);
  }

  /** Epoch milliseconds; null: the server does not run. */
  #startedAt(): number | null {
    const { startedAt, state } = this.#options.server.status();
    return startedAt === null || state === 'stopped' || state === 'crashed' ? null : Date.parse(startedAt);
  }

  #storeClock(now: number): void {
    if (Math.abs(now - this.#storedClockAt) < STORE_CLOCK_MS) return;
    this.#options.entries.clock = now;
    this.#storedClockAt = now;
  }

  #announce(
    kind: Announcement['kind'],
    { entry, at }: Pick<Occurrence, 'entry' | 'at'>,
    { by, minutes = null }: { readonly by: string; readonly minutes?: number | null },
  ): void {
    this.#options.announce({
      kind,
      schedule: entry.name,
      action: entry.action,
      at: new Date(at).toISOString(),
      minutes,
      by,
    });
  }

  #tellChange(): void {
    this.#told = JSON.stringify(this.next());
    for (const listener of this.#listeners) listener();
  }
}

/** Whether a change leaves the occurrences as they are, also one that was put off or waits. */
function hasSameTimes(earlier: EntryFields, changed: EntryFields): boolean {
  const timesOf = ({ enabled, action, timeZone, when }: EntryFields) =>
    JSON.stringify([enabled, action, timeZone, when]);
  return timesOf(earlier) === timesOf(changed);
}

function checkPermission(action: ScheduleAction, { permissions }: Author): void {
  if (!permissions.has(ACTION_PERMISSION[action])) throw new PanelError('permission.missing');
}
