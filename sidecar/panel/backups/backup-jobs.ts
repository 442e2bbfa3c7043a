import { basename } from 'node:path';
import type { BackupDesk } from '#sidecar/backup/backup-desk.ts';
import { grouped, MoveBusy, MoveRefused, type MoveReport, sized } from '#sidecar/moving/report.ts';
import { needs } from '../http/route.ts';
import { JobFailed, type JobKind, type RunningJob } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { RestoreOutcome } from '../shapes/backups.ts';

export const BACKUP_JOBS = { make: 'backups.make', drill: 'backups.drill', restore: 'backups.restore' } as const;
/** Every job of backups holds it: one runs at a time. */
const SUBJECT = 'backups';

export interface RestoreInput {
  readonly name: string;
  readonly where: 'local' | 'remote';
  readonly namespace: string | null;
  readonly as: string | null;
}

/** The kinds of jobs that make, try out and restore backups. */
export function defineBackupJobs(jobs: Jobs, desk: BackupDesk): void {
  const base = { lane: 'work', withoutSwitch: true, subjects: () => [SUBJECT] } as const;
  jobs.define<object>({
    ...{ ...base, kind: BACKUP_JOBS.make, access: needs('backups.make') },
    run: async (job) => {
      const made = await refusing(desk.make(), desk, job.signal);
      const { path, rows, bytes, remote } = made;
      job.log(`Made ${basename(path)}: ${grouped(rows)} rows, ${sized(bytes, Math.round)}`);
      const outcome = { name: basename(path), rows, bytes, remote };
      if (remote !== null && 'error' in remote && typeof remote.error === 'string')
        throw new JobFailed(`it is here, and could not be sent: ${remote.error}`, outcome);
      return outcome;
    },
  });
  jobs.define<object>({
    ...{ ...base, kind: BACKUP_JOBS.drill, access: needs('backups.make') },
    run: async (job) => {
      const drill = await refusing(desk.drill(), desk, job.signal);
      if (!drill.ok) throw new JobFailed(drill.error ?? 'the drill failed', { drill });
      job.log(`${drill.backup ?? 'The newest backup'}: proved in ${drill.seconds} s`);
      return { drill };
    },
  });
  jobs.define(restoreJob(desk));
}

function restoreJob(desk: BackupDesk): JobKind<RestoreInput> {
  return {
    ...{ kind: BACKUP_JOBS.restore, lane: 'switch', withoutSwitch: true },
    access: needs('backups.restore', 'users.manage'),
    subjects: () => [SUBJECT],
    run: async (job) => ({ ...(await restore(job, desk)) }),
    // The same rows are written again: a restore may be repeated.
    resume: async (job) => ({ ...(await restore(job, desk)) }),
  };
}

/**
 * The backup for the way back is made when the other one is here, so that the minutes of a download are in it. A namespace
 * under a new name replaces nothing: there is nothing to undo.
 */
async function restore(job: RunningJob<RestoreInput>, desk: BackupDesk): Promise<RestoreOutcome> {
  const { name, where, namespace, as } = job.input;
  const isBegun = job.steps.some((step) => step.name === 'restoring');
  if (!isBegun) await checkListed(job, desk);
  let undo: string | null = null;
  const before = async (): Promise<void> => {
    if (as === null) undo = await backupBefore(job, desk);
    if (!isBegun) {
      job.commit();
      job.step('restoring');
    }
    job.log(`Restoring ${namespace ?? 'all namespaces'} of ${name}`);
  };
  if (where === 'remote') job.log(`Fetching ${name}`);
  // After `commit` it is ended by the end of the panel alone, and resumed after that.
  const wish = { name, where, namespace, as, before, isResumed: isBegun, report: reportOf(job), signal: job.signal };
  await refusing(desk.restore(wish), desk, job.signal).catch((error: unknown) => {
    if (undo === null || job.signal.aborted) throw error;
    throw new JobFailed(
      `${(error as Error).message}; a namespace that was begun stays closed until a restore ends well`,
      {
        ...{ undo, namespace },
      },
    );
  });
  job.log(undo === null ? 'Restored' : `Restored; ${undo} is the way back`);
  return { undo, namespace };
}

/** Nothing is made for a name that is wrong. @throws PanelError `backups.refused` */
async function checkListed({ input, signal }: RunningJob<RestoreInput>, desk: BackupDesk): Promise<void> {
  const { backups } = await desk.list(signal);
  if (backups.some(({ name, where }) => name === input.name && where === input.where)) return;
  throw new PanelError('backups.refused', { detail: `there is no backup ${input.name}` });
}

/** Made once, also if the job is repeated. No older backup is deleted for it: it could be the one that is restored. */
async function backupBefore(job: RunningJob<RestoreInput>, desk: BackupDesk): Promise<string> {
  const known = job.steps.find((step) => step.name === 'backup')?.data.undo;
  if (typeof known === 'string') return known;
  job.log('Making a backup of what is there now');
  const { path } = await desk.make({ keepsAll: true });
  const undo = basename(path);
  job.step('backup', { undo });
  return undo;
}

/** A refusal of the desk is a refusal of the panel. A cancel ends the process of the backup. */
async function refusing<T>(work: Promise<T>, desk: BackupDesk, signal?: AbortSignal): Promise<T> {
  const stop = () => desk.stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await work;
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : refusalOf(error);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

export function refusalOf(error: unknown): unknown {
  if (error instanceof MoveBusy) return new PanelError('backups.busy');
  return error instanceof MoveRefused ? new PanelError('backups.refused', { detail: error.message }) : error;
}

/** Lines of the move into the log, and its rows as progress. */
function reportOf(job: RunningJob): MoveReport {
  let expected: number | null = null;
  let done = 0;
  return {
    say: (line) => job.log(line),
    begin(label, rows) {
      [expected, done] = [rows, 0];
      job.log(label);
    },
    advance(rows) {
      done += rows;
      if (expected !== null && expected > 0) job.progress(Math.min(1, done / expected));
    },
    table: (_header, cells) => {
      for (const row of cells) job.log(row.join('  '));
    },
    end() {},
  };
}
