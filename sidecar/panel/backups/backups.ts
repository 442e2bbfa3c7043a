import type { BackupDesk } from '#sidecar/backup/backup-desk.ts';
import type { JobCaller } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { BackupsAnswer, BackupTable } from '../shapes/backups.ts';
import type { JobView } from '../shapes/jobs.ts';
import { BACKUP_JOBS, type RestoreInput, refusalOf } from './backup-jobs.ts';

/** Backups as the panel shows and starts them: one job of them at a time. */
export class Backups {
  readonly #desk: BackupDesk;
  readonly #jobs: Jobs;

  constructor(desk: BackupDesk, jobs: Jobs) {
    this.#desk = desk;
    this.#jobs = jobs;
  }

  async list(caller: JobCaller, signal: AbortSignal): Promise<BackupsAnswer> {
    const status = this.#jobs.list(caller).find(({ kind }) => isBackupJob(kind)) ?? null;
    return { ...(await this.#desk.list(signal)), status };
  }

  /** @throws PanelError `backups.busy` */
  make(caller: JobCaller): JobView {
    return this.#start(BACKUP_JOBS.make, {}, caller);
  }

  /** @throws PanelError `backups.busy` */
  drill(caller: JobCaller): JobView {
    return this.#start(BACKUP_JOBS.drill, {}, caller);
  }

  /** @throws PanelError `backups.refused` */
  async preview(choice: Omit<RestoreInput, 'as'>, signal: AbortSignal): Promise<BackupTable[]> {
    try {
      const tables = await this.#desk.preview(choice, signal);
      return tables.map(({ namespace, table, rowsThen, rowsNow }) => ({
        ...{ namespace, table, now: rowsNow },
        // biome-ignore lint/suspicious/noThenProperty: the contract's name, and a number
        then: rowsThen,
      }));
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /** @throws PanelError `backups.busy` */
  restore(input: RestoreInput, caller: JobCaller): JobView {
    return this.#start(BACKUP_JOBS.restore, input, caller);
  }

  #start(kind: string, input: object, caller: JobCaller): JobView {
    const kinds = Object.values(BACKUP_JOBS);
    if (kinds.some((known) => this.#jobs.hasLive(known))) throw new PanelError('backups.busy');
    return this.#jobs.start(kind, input, caller);
  }
}

function isBackupJob(kind: string): boolean {
  return Object.values(BACKUP_JOBS).some((known) => known === kind);
}
