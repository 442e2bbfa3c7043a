import { existsSync, statSync } from 'node:fs';
import { listBackups } from '../backup/backup-folder.ts';
import type { DoneElsewhere } from '../backup/backup-lease.ts';
import { LATE_SECONDS, lastCopied } from '../backup/continuous/continuous-backup.ts';
import { DrillBook, isDrillOverdue } from '../backup/remote/drill-book.ts';
import { RemoteBackups } from '../backup/remote/remote-backups.ts';
import { isNewestUnsent } from '../backup/remote/sent-index.ts';
import type { BackupSchedule } from '../config/backup.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import { type Finding, privateFinding } from './doctor-files.ts';

const HOUR_MS = 3_600_000;
const ANSWER_MS = 15_000;
const what = 'backup';
const OFF_MACHINE = 'off machine';

/**
 * Age of the newest backup, and the second place with its drills.
 *
 * @param elsewhere last backup that the database knows of, if another sidecar made it
 */
export async function* backupFindings(
  config: SidecarConfig,
  environment: NodeJS.ProcessEnv,
  elsewhere: DoneElsewhere | null,
): AsyncGenerator<Finding> {
  yield* localFindings(config, elsewhere);
  const { remote, encryptTo, identityFile } = config.backup;
  if (remote === null) {
    const advice = 'set backup.remote (docs/backup.md): a backup on the same machine is lost with it';
    yield { verdict: 'warn', what: OFF_MACHINE, found: 'no place off this machine', advice };
    return;
  }
  if (encryptTo.length === 0 && remote.type === 's3') {
    const advice = 'set backup.encryptTo (main.js backup keygen makes the keys)';
    yield { verdict: 'warn', what: OFF_MACHINE, found: 'backups leave this machine in the clear', advice };
  }
  if (remote.type === 'folder' && isSameDisk(remote.path, config.backup.folder)) {
    const advice = 'choose a folder on another disk';
    yield {
      verdict: 'warn',
      what: OFF_MACHINE,
      found: `${remote.path} is on the same disk as ${config.backup.folder}`,
      advice,
    };
  }
  if (identityFile !== null && existsSync(identityFile)) yield* privateFinding(identityFile);
  yield await placeFinding(config, environment);
  yield* continuousFindings(config);
  yield* drillFindings(config);
}

/** A backup that is a whole turn late has failed, unless another box has made it. */
function* localFindings(
  { backup: { folder, schedule } }: SidecarConfig,
  elsewhere: DoneElsewhere | null,
): Generator<Finding> {
  if (schedule === null) {
    const advice = 'set backup.at in the configuration (docs/backup.md), unless backups are made otherwise';
    yield { verdict: 'warn', what, found: 'no schedule', advice };
  }
  const own = listBackups(folder).at(-1);
  const ownText = own === undefined ? `none in ${folder} yet` : `${own.path} is ${hoursSince(own.time)} h old`;
  const isElsewhere = elsewhere !== null && elsewhere.time > (own?.time ?? 0);
  const last = isElsewhere ? elsewhere : own;
  if (last === undefined) {
    const advice = 'a running sidecar makes the first one at once; its log says why not';
    if (schedule !== null) yield { verdict: 'warn', what, found: ownText, advice };
    return;
  }
  const found = isElsewhere ? `${madeBy(elsewhere)}; ${ownText}` : ownText;
  const isLate = schedule !== null && hoursSince(last.time) >= 2 * hoursOf(schedule);
  const advice = isElsewhere
    ? 'the logs of this sidecar and of that box say why there is no newer one'
    : 'the log of the sidecar says why there is no newer one';
  yield isLate ? { verdict: 'fail', what, found, advice } : { verdict: 'ok', what, found };
}

function madeBy({ box, time }: DoneElsewhere): string {
  return `the last backup was made by ${box} at ${new Date(time).toISOString()}`;
}

/** Hours before or after now: a clock that was far ahead hides no missing backup. */
function hoursSince(time: number): number {
  return Math.floor(Math.abs(Date.now() - time) / HOUR_MS);
}

function hoursOf(schedule: BackupSchedule): number {
  return schedule.kind === 'every' ? schedule.hours : 24;
}

function isSameDisk(one: string, other: string): boolean {
  return existsSync(one) && existsSync(other) && statSync(one).dev === statSync(other).dev;
}

async function placeFinding(config: SidecarConfig, environment: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const remote = await RemoteBackups.open(config, environment);
    try {
      const backups = await remote.list(AbortSignal.timeout(ANSWER_MS));
      const own = backups.filter(({ installation }) => installation === remote.installation).at(-1);
      const found = `${remote.store.place} answers; the newest there is ${own?.object ?? 'none of this installation'}`;
      if (!isNewestUnsent(config)) return { verdict: 'ok', what: OFF_MACHINE, found };
      return {
        verdict: 'fail',
        what: OFF_MACHINE,
        found,
        advice: 'the newest local backup is not there: main.js backup send',
      };
    } finally {
      remote.close();
    }
  } catch (error) {
    const advice = 'until then backups are on this machine only';
    return { verdict: 'fail', what: OFF_MACHINE, found: (error as Error).message, advice };
  }
}

function* continuousFindings(config: SidecarConfig): Generator<Finding> {
  if (config.backup.continuous === null) return;
  const at = lastCopied(config);
  const seconds = at === null ? null : Math.floor((Date.now() - at) / 1000);
  const found =
    seconds === null ? 'nothing was copied continuously yet' : `everything up to ${seconds} s ago is off this machine`;
  const advice = 'the log of the sidecar says what Litestream lacks';
  const isLate = seconds === null || seconds > LATE_SECONDS;
  yield isLate ? { verdict: 'warn', what: OFF_MACHINE, found, advice } : { verdict: 'ok', what: OFF_MACHINE, found };
}

function* drillFindings({ backup: { drill }, dataFolder }: SidecarConfig): Generator<Finding> {
  const record = new DrillBook(dataFolder).read();
  if (drill === null && record === null) {
    const advice = 'set backup.drill, or run main.js backup drill: a backup that was never restored is a hope';
    yield { verdict: 'warn', what: 'drill', found: 'no backup was ever tried out', advice };
    return;
  }
  if (record === null) {
    yield { verdict: 'ok', what: 'drill', found: 'the first one follows the first backup that is sent' };
    return;
  }
  const { at, ok, kind, rows, error, backup } = record.last;
  const read = kind === 'bytes' ? 'bytes only' : `${rows ?? 0} rows`;
  const found = ok ? `${backup} was tried out on ${at}: ${read}` : `the drill of ${at} has failed: ${error}`;
  const isLate = drill !== null && isDrillOverdue(record, drill.everyDays, Date.now());
  const advice = `the last that succeeded: ${record.lastSuccessAt ?? 'never'}; main.js backup drill tries again`;
  yield ok && !isLate ? { verdict: 'ok', what: 'drill', found } : { verdict: 'fail', what: 'drill', found, advice };
}
