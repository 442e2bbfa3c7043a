import type { BackupConfig, BackupSchedule } from '../config/backup.ts';
import type { EngineLog } from '../engine/log.ts';
import { newestBackup } from './backup-folder.ts';
import type { BackupLease, DoneElsewhere } from './backup-lease.ts';
import { BackupProgram, causeOf, type Ended } from './backup-program.ts';
import { DueWork } from './due-work.ts';
import type { MadeAndSent, SentResult } from './make-backup.ts';
import { isNewestUnsent } from './remote/sent-index.ts';
import { tellMade, tellNotMade } from './tell-backup.ts';

export interface ScheduledBackupsOptions {
  readonly backup: BackupConfig;
  /** Folder of what the sidecar must remember. */
  readonly dataFolder: string;
  /** sidecar.json, absolute. */
  readonly configFile: string;
  /** `main.js`. */
  readonly program: string;
  readonly log: EngineLog;
  /** With the other sidecars of the database. */
  readonly lease: BackupLease;
  /** Earliest time of the first backup of all, epoch milliseconds: a new installation has nothing to lose yet. */
  readonly firstAt?: number;
}

const RETRY_MS = 900_000;

/** Makes backups when they are due, and sends again what could not be sent. */
export class ScheduledBackups {
  readonly #options: ScheduledBackupsOptions;
  readonly #schedule: BackupSchedule;
  readonly #program: BackupProgram;
  readonly #work: DueWork;
  #failedAt: number | null = null;
  /** When another sidecar made the backup of the database last; 0 for never. */
  #madeElsewhereAt = 0;
  /** When the newest local backup could not be sent; 0 after a start. */
  #unsentAt: number | null = null;

  private constructor(options: ScheduledBackupsOptions, schedule: BackupSchedule) {
    this.#options = options;
    this.#schedule = schedule;
    this.#program = new BackupProgram(options.program);
    this.#work = new DueWork({
      program: this.#program,
      due: () => this.#dueWork(),
      onFailed: (cause) => this.#failed(cause),
    });
  }

  /** Null if the configuration has no schedule. */
  static start(options: ScheduledBackupsOptions): ScheduledBackups | null {
    const { schedule } = options.backup;
    if (schedule === null) return null;
    const backups = new ScheduledBackups(options, schedule);
    backups.#lookForUnsent();
    backups.#work.look();
    return backups;
  }

  /** Gives up a running backup: it leaves nothing that looks like a backup. */
  stop(): Promise<void> {
    return this.#work.stop();
  }

  /** A backup that the process before this one could not send. */
  #lookForUnsent(): void {
    try {
      if (isNewestUnsent(this.#options)) this.#unsentAt = 0;
    } catch {
      // The folder cannot be read: the next backup says so.
    }
  }

  #dueWork(): (() => Promise<unknown>) | null {
    const now = Date.now();
    if (this.#dueAt() <= now) return () => this.#options.lease.alone((last) => this.#makeUnlessMade(last));
    if (this.#unsentAt !== null && this.#unsentAt + RETRY_MS <= now) return () => this.#send();
    return null;
  }

  #dueAt(): number {
    if (this.#failedAt !== null) return this.#failedAt + RETRY_MS;
    try {
      const now = Date.now();
      const own = newestBackup(this.#options.backup.folder, now)?.time ?? 0;
      const elsewhere = this.#madeElsewhereAt > now ? 0 : this.#madeElsewhereAt;
      const last = Math.max(own, elsewhere) || null;
      const due = nextDue(this.#schedule, last, now);
      return last === null ? Math.max(due, this.#options.firstAt ?? 0) : due;
    } catch {
      // The backup itself says what is wrong with the folder.
      return Date.now();
    }
  }

  /** Returns null if no backup was made: another sidecar of the database may have made that of this time. */
  async #makeUnlessMade(last: DoneElsewhere | null): Promise<object | null> {
    if (last !== null && nextDue(this.#schedule, last.time, Date.now()) > Date.now()) {
      this.#failedAt = null;
      this.#madeElsewhereAt = last.time;
      const madeAt = new Date(last.time).toISOString();
      this.#options.log('info', 'another sidecar of the database made the backup of this time', {
        box: last.box,
        madeAt,
      });
      return null;
    }
    await this.#make();
    return this.#failedAt === null ? {} : null;
  }

  async #make(): Promise<void> {
    const { backup, configFile, log } = this.#options;
    const ended = await this.#run(['backup', '--config', configFile, '--json', '--keep', String(backup.keep)]);
    if (ended.output === '') throw new Error(causeOf(ended));
    const made = JSON.parse(ended.output) as MadeAndSent;
    tellMade(log, made);
    this.#failedAt = null;
    this.#tellSent(made.remote);
  }

  async #send(): Promise<void> {
    const ended = await this.#run(['backup', 'send', '--config', this.#options.configFile, '--json']);
    if (ended.output === '') this.#tellSent({ error: causeOf(ended) });
    else this.#tellSent((JSON.parse(ended.output) as { readonly remote: SentResult }).remote);
  }

  async #run(args: readonly string[]): Promise<Ended> {
    const ended = await this.#program.run(args);
    for (const line of ended.errors.filter((each) => each.startsWith('warning: '))) {
      this.#options.log('warn', 'a backup was made with a warning', { cause: line });
    }
    return ended;
  }

  #tellSent(remote: SentResult | null): void {
    if (remote === null || this.#work.isStopped) return;
    const { log } = this.#options;
    if ('error' in remote) {
      this.#unsentAt = Date.now();
      const message = 'the backup is on this machine only: it could not be sent; it is tried again every 15 minutes';
      tellNotMade(log, message, remote.error);
      return;
    }
    this.#unsentAt = null;
    const { object, bytes, deleted } = remote;
    log('info', 'backup sent', { object, bytes, deleted: deleted.join(', ') });
  }

  #failed(cause: string): void {
    this.#failedAt = Date.now();
    const message = 'the backup failed: there is none of this time; it is tried again every 15 minutes';
    tellNotMade(this.#options.log, message, cause);
  }
}

const HOUR_MS = 3_600_000;

/**
 * When the next backup is to be made, epoch milliseconds; `now` or earlier means at once. One that was missed, as while
 * the sidecar was not running, is made at once, and so is the first of all. `last`: when the newest one was made.
 */
export function nextDue(schedule: BackupSchedule, last: number | null, now: number): number {
  if (last === null) return now;
  if (schedule.kind === 'every') return Math.min(last, now) + schedule.hours * HOUR_MS;
  const today = timeOfDay(schedule, now, 0);
  const latest = today <= now ? today : timeOfDay(schedule, now, -1);
  if (last < latest) return now;
  return today > now ? today : timeOfDay(schedule, now, 1);
}

/** For the owner: "every day at 04:30". */
export function scheduleText(schedule: BackupSchedule): string {
  if (schedule.kind === 'every') return `every ${schedule.hours} hours`;
  const [hour, minute] = [schedule.hour, schedule.minute].map((part) => String(part).padStart(2, '0'));
  return `every day at ${hour}:${minute}`;
}

/** In the time zone of the machine; a time that a change of the clocks leaves out is the one after it. */
function timeOfDay({ hour, minute }: BackupSchedule & { kind: 'daily' }, now: number, days: number): number {
  const date = new Date(now);
  date.setDate(date.getDate() + days);
  return date.setHours(hour, minute, 0, 0);
}
