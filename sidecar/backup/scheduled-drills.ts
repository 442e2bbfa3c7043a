import type { BackupConfig } from '../config/backup.ts';
import type { EngineLog } from '../engine/log.ts';
import { MoveBusy } from '../moving/report.ts';
import type { BackupLease, DoneElsewhere } from './backup-lease.ts';
import { BackupProgram, causeOf } from './backup-program.ts';
import { DueWork } from './due-work.ts';
import { DrillBook, type DrillResult, isDrillOverdue, nextDrill } from './remote/drill-book.ts';
import { hasSent } from './remote/sent-index.ts';
import { tellFailedDrill } from './tell-backup.ts';

export interface ScheduledDrillsOptions {
  readonly backup: BackupConfig;
  readonly dataFolder: string;
  /** sidecar.json, absolute. */
  readonly configFile: string;
  /** `main.js`. */
  readonly program: string;
  readonly log: EngineLog;
  /** Leases of the database: one sidecar tries out, the one that made the newest backup. */
  readonly leases: { readonly drills: BackupLease; readonly backups: BackupLease };
}

const DAY_MS = 86_400_000;
/** Before another look at a drill that could not run, or is another sidecar's. */
const PAUSE_MS = 900_000;

/** Tries backups out when it is due, also a drill that was missed while the sidecar was not running. */
export class ScheduledDrills {
  readonly #options: ScheduledDrillsOptions;
  readonly #everyDays: number;
  readonly #book: DrillBook;
  readonly #program: BackupProgram;
  readonly #work: DueWork;
  #toldOverdueAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = 0;

  private constructor(options: ScheduledDrillsOptions, everyDays: number) {
    this.#options = options;
    this.#everyDays = everyDays;
    this.#book = new DrillBook(options.dataFolder);
    this.#program = new BackupProgram(options.program);
    this.#work = new DueWork({
      program: this.#program,
      due: () => this.#dueWork(),
      onFailed: (cause) => {
        this.#pause();
        options.log('error', 'a drill of the backups could not run; it is tried again in 15 minutes', { cause });
      },
    });
  }

  /** Null if the configuration has no drills. */
  static start(options: ScheduledDrillsOptions): ScheduledDrills | null {
    const { drill, remote } = options.backup;
    if (drill === null || remote === null) return null;
    const drills = new ScheduledDrills(options, drill.everyDays);
    drills.#work.look();
    return drills;
  }

  stop(): Promise<void> {
    return this.#work.stop();
  }

  #dueWork(): (() => Promise<void>) | null {
    const now = Date.now();
    if (this.#pausedUntil > performance.now()) return null;
    const record = this.#book.read();
    this.#tellOverdue(isDrillOverdue(record, this.#everyDays, now), record?.lastSuccessAt ?? null, now);
    const isDue = nextDrill(record, this.#everyDays, now) <= now && (record !== null || hasSent(this.#options));
    return isDue ? () => this.#options.leases.drills.alone((last, instance) => this.#runOwn(last, instance)) : null;
  }

  #pause(): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
  }

  /** Null if the drill of this time is, or was, the work of another sidecar of the database. */
  async #runOwn(last: DoneElsewhere | null, instance: string): Promise<DrillResult | null> {
    this.#book.adopt(last?.note);
    const maker = await this.#options.leases.backups.lastElsewhere(instance);
    const isDone = nextDrill(this.#book.read(), this.#everyDays, Date.now()) > Date.now();
    if (maker === null && !isDone) return this.#run();
    this.#pause();
    const box = isDone ? last?.box : maker?.box;
    this.#options.log('info', 'another sidecar of the database tries out the backups', { box: box ?? '' });
    return null;
  }

  #tellOverdue(isOverdue: boolean, lastSuccessAt: string | null, now: number): void {
    if (!isOverdue || now - this.#toldOverdueAt < DAY_MS) return;
    this.#toldOverdueAt = now;
    const message = 'no drill of the backups has succeeded for twice backup.drill.everyDays: they may be worth nothing';
    this.#options.log('error', message, { lastSuccessAt: lastSuccessAt ?? 'never' });
  }

  async #run(): Promise<DrillResult | null> {
    const { configFile, log } = this.#options;
    const ended = await this.#program.run(['backup', 'drill', '--config', configFile, '--json']);
    if (this.#work.isStopped) return null;
    if (ended.code === MoveBusy.exitCode) throw new Error(causeOf(ended));
    const result = readResult(ended.output) ?? this.#noResult(causeOf(ended));
    const { ok, kind, backup, seconds, rows } = result;
    if (ok)
      log('info', 'the newest backup was tried out', {
        backup: backup ?? '',
        kind,
        seconds,
        rows: rows ?? 'bytes only',
      });
    else tellFailedDrill(log, result);
    return result;
  }

  /** Its process has ended without one. Kept, so that the next try has to wait. */
  #noResult(error: string): DrillResult {
    const at = new Date().toISOString();
    const result: DrillResult = { at, ok: false, kind: 'bytes', backup: null, seconds: 0, rows: null, error };
    this.#book.write(result);
    return result;
  }
}

function readResult(output: string): DrillResult | null {
  try {
    const { drill } = JSON.parse(output) as { readonly drill?: DrillResult };
    return drill ?? null;
  } catch {
    return null;
  }
}
