import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { BackupConfig, BackupSchedule } from '../config/backup.ts';
import type { EngineLog } from '../engine/log.ts';
import { listBackups } from './backup-folder.ts';

export interface ScheduledBackupsOptions {
  readonly backup: BackupConfig;
  /** sidecar.json, absolute. */
  readonly configFile: string;
  /** `main.js`. */
  readonly program: string;
  readonly log: EngineLog;
}

/** The clock may be set meanwhile, and a timer cannot wait for weeks. */
const LOOK_EVERY_MS = 30_000;
const RETRY_MS = 900_000;
const STOP_MS = 5000;

/**
 * Makes backups when they are due, each in a process of its own, so that requests do not wait for it and a fault in it
 * ends nothing else.
 */
export class ScheduledBackups {
  readonly #options: ScheduledBackupsOptions;
  readonly #schedule: BackupSchedule;
  #timer: NodeJS.Timeout | null = null;
  #child: ChildProcess | null = null;
  #running: Promise<void> = Promise.resolve();
  #failedAt: number | null = null;
  #isStopped = false;

  private constructor(options: ScheduledBackupsOptions, schedule: BackupSchedule) {
    this.#options = options;
    this.#schedule = schedule;
  }

  /** Null if the configuration has no schedule. */
  static start(options: ScheduledBackupsOptions): ScheduledBackups | null {
    const { schedule } = options.backup;
    if (schedule === null) return null;
    const backups = new ScheduledBackups(options, schedule);
    backups.#look();
    return backups;
  }

  /** Gives up a running backup: it leaves nothing that looks like a backup. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#child?.kill('SIGTERM');
    const killer = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_MS);
    await this.#running;
    clearTimeout(killer);
  }

  #look(): void {
    if (this.#isStopped) return;
    if (this.#dueAt() <= Date.now()) {
      this.#running = this.#make()
        .catch((error: unknown) => this.#failed((error as Error).message))
        .finally(() => this.#lookLater());
    } else this.#lookLater();
  }

  #lookLater(): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  #dueAt(): number {
    if (this.#failedAt !== null) return this.#failedAt + RETRY_MS;
    try {
      const last = listBackups(this.#options.backup.folder).at(-1)?.time ?? null;
      return nextDue(this.#schedule, last, Date.now());
    } catch {
      // The backup itself says what is wrong with the folder.
      return Date.now();
    }
  }

  async #make(): Promise<void> {
    const { backup, configFile, program, log } = this.#options;
    const ended = await this.#run([program, 'backup', '--config', configFile, '--json', '--keep', String(backup.keep)]);
    for (const line of ended.errors.filter((each) => each.startsWith('warning: '))) {
      log('warn', 'a backup was made with a warning', { cause: line });
    }
    if (ended.code === 0) {
      const { path, rows, bytes, removed } = JSON.parse(ended.output) as MadeByCommand;
      log('info', 'backup made', { path, rows, bytes, deleted: removed.join(', ') });
      this.#failedAt = null;
    } else this.#failed(ended.errors.at(-1) ?? `its process ended with ${ended.code}`);
  }

  #failed(cause: string): void {
    if (this.#isStopped) return;
    this.#failedAt = Date.now();
    this.#options.log('error', 'the backup failed: there is none of this time; it is tried again every 15 minutes', {
      cause,
    });
  }

  async #run(args: readonly string[]): Promise<Ended> {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    try {
      const { promise, resolve } = Promise.withResolvers<number | string>();
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(code ?? `${signal}`));
      const [code, output, errors] = await Promise.all([promise, text(child.stdout), text(child.stderr)]);
      return { code, output, errors: errors.split('\n').filter((line) => line !== '') };
    } catch (error) {
      return { code: (error as Error).message, output: '', errors: [] };
    } finally {
      this.#child = null;
    }
  }
}

interface MadeByCommand {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly removed: readonly string[];
}

interface Ended {
  /** Exit code, or the reason why there was none. */
  readonly code: number | string;
  readonly output: string;
  readonly errors: readonly string[];
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

/** In the time zone of the machine; a time that a change of the clocks leaves out is the one after it. */
function timeOfDay({ hour, minute }: BackupSchedule & { kind: 'daily' }, now: number, days: number): number {
  const date = new Date(now);
  date.setDate(date.getDate() + days);
  return date.setHours(hour, minute, 0, 0);
}
