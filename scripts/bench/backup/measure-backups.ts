import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { S3_KEYS, S3_REGION, type S3Program, startS3Program } from '#support/s3-program.ts';
import { areCalm, type CalmP99, calmP99, calmText } from '../calm-windows.ts';
import { SECONDS } from '../durations.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { COLD_ROW_BYTES } from '../payloads.ts';
import { makeFolder } from '../prepare.ts';
import { memoryOf, type Running, run, start } from '../processes.ts';
import { Scenarios } from '../scenarios.ts';
import { declareCold, fillCold } from '../sidecar/measure-cold-file.ts';
import { costTarget, type Target } from '../target.ts';
import { timedCommand } from './timed-command.ts';

const FINDS_PER_SECOND = 500;
const CALLERS = 16;
const MOST_P99 = 1.5;
const MOST_SECONDS = 300;
const MOST_MEGABYTES = 200;
const BUCKET = 'backups';
/** As an owner has it: sources take more memory than the build. */
const PROGRAM = 'dist/sidecar/main.js';
/** BENCH_BACKUP_GB=1 is the size of the target. */
const GIGABYTES = Number(process.env.BENCH_BACKUP_GB ?? '0.2');
const ROWS = Math.round((GIGABYTES * 1e9) / COLD_ROW_BYTES);
const SIZE = `${GIGABYTES} GB`;

export interface BackupFigures {
  readonly alone: CalmP99;
  readonly beside: CalmP99;
  /** The first of those that ran beside the finds. */
  readonly backupSeconds: number;
  readonly restoreSeconds: number;
  /** Highest memory of the restore beyond that of a sidecar without calls. */
  readonly restoreMegabytes: number;
  readonly idleMegabytes: number;
}

/** Finds by key beside an encrypted backup to a server of S3, and an empty machine made of that backup. */
export async function measureBackups(): Promise<BackupFigures> {
  const { folder, secret } = makeFolder({ provider: 'sqlite', file: 'data/database.sqlite' });
  const [there, objects] = [join(folder, 'there'), join(folder, 'objects')];
  for (const path of [there, objects]) mkdirSync(path);
  const s3 = await startS3Program(objects);
  try {
    await s3.makeBucket(BUCKET);
    const remote = remoteOf(s3, folder);
    const { identity, recipient } = JSON.parse(await run([PROGRAM, 'backup', 'keygen', '--json']));
    const file = join(folder, 'sidecar.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, backup: { remote, encryptTo: [recipient] } }), { mode: 0o600 });
    const beside = await measureBeside(folder, secret);
    writeFileSync(join(folder, 'identity'), identity, { mode: 0o600 });
    writeFileSync(join(there, 'sidecar.json'), JSON.stringify({ backup: { remote } }), { mode: 0o600 });
    const words = ['restore', '--from', 's3', '--latest', '--identity', join(folder, 'identity')];
    const args = [PROGRAM, ...words, '--config', join(there, 'sidecar.json')];
    const restore = await timedCommand(start(args, join(folder, 'restore.log')));
    const restoreMegabytes = restore.megabytes - beside.idleMegabytes;
    return { ...beside, restoreSeconds: restore.seconds, restoreMegabytes };
  } finally {
    await s3.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type BesideFigures = Omit<BackupFigures, 'restoreSeconds' | 'restoreMegabytes'>;

async function measureBeside(folder: string, secret: string): Promise<BesideFigures> {
  await withSidecar(folder, (port) => declareCold(port, secret));
  fillCold(join(folder, 'data/database.sqlite'), ROWS);
  return withSidecar(folder, async (port, pid) => {
    const idleMegabytes = memoryOf(pid)?.rssMegabytes ?? 0;
    const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
    const finds = () => scenarios.load('findCold', { connections: CALLERS, ratePerSecond: FINDS_PER_SECOND });
    // The caches are as warm before as beside.
    await finds();
    const alone = await calmP99(finds);
    const backups = new Backups(folder);
    const beside = await calmP99(
      () => {
        backups.goOn();
        return finds();
      },
      () => backups.isUnderWay,
    );
    return { alone, beside, backupSeconds: await backups.end(), idleMegabytes };
  });
}

/** Backups one after another, for as long as finds are measured. */
class Backups {
  readonly #folder: string;
  readonly #seconds: Promise<number>[] = [];
  isUnderWay = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  goOn(): void {
    if (this.isUnderWay) return;
    const words = [PROGRAM, 'backup', '--config', join(this.#folder, 'sidecar.json'), '--json'];
    this.isUnderWay = true;
    this.#seconds.push(this.#secondsOf(start(words, join(this.#folder, 'backup.log'))));
  }

  async #secondsOf(backup: Running): Promise<number> {
    try {
      return (await timedCommand(backup)).seconds;
    } finally {
      this.isUnderWay = false;
    }
  }

  /** Seconds of the first, when the last has ended. */
  async end(): Promise<number> {
    const [first] = await Promise.all(this.#seconds);
    return first ?? Number.NaN;
  }
}

/** Its keys are in files, as an owner's. */
function remoteOf({ port }: S3Program, folder: string): object {
  const [accessKeyFile, secretKeyFile] = [join(folder, 's3-access'), join(folder, 's3-secret')];
  writeFileSync(accessKeyFile, S3_KEYS.accessKeyId, { mode: 0o600 });
  writeFileSync(secretKeyFile, S3_KEYS.secretAccessKey, { mode: 0o600 });
  const place = { endpoint: `http://127.0.0.1:${port}`, region: S3_REGION, bucket: BUCKET, pathStyle: true };
  return { type: 's3', ...place, accessKeyFile, secretKeyFile };
}

export function backupTargets(figures: BackupFigures): Target[] {
  const { alone, beside, restoreSeconds, restoreMegabytes } = figures;
  const p99 = `${calmText(beside)}; without ${calmText(alone)}`;
  const times = beside.p99Ms / alone.p99Ms;
  const delay = costTarget('finds by key p99 while a backup is encrypted and sent', times, MOST_P99, p99);
  const seconds = `${restoreSeconds.toFixed(1)} s`;
  const megabytes = `${restoreMegabytes.toFixed(0)} MB`;
  return [
    areCalm(alone, beside) ? delay : { ...delay, verdict: 'not judged' },
    costTarget(
      `seconds for an encrypted backup of ${SIZE} restored`,
      restoreSeconds,
      MOST_SECONDS * GIGABYTES,
      seconds,
    ),
    costTarget('megabytes of memory for it', restoreMegabytes, MOST_MEGABYTES, megabytes),
  ];
}

export function backupSection(figures: BackupFigures): string {
  const { alone, beside, backupSeconds, restoreSeconds, restoreMegabytes, idleMegabytes } = figures;
  return `
## Backups that leave the machine

A SQLite file of ${SIZE}, encrypted and sent to a server of S3 on the same machine in ${backupSeconds.toFixed(0)} s: ${FINDS_PER_SECOND} finds by key a second have a p99 of
${beside.p99Ms.toFixed(2)} ms meanwhile, and ${alone.p99Ms.toFixed(2)} ms without. An empty machine has it again after ${restoreSeconds.toFixed(0)} s, with
${restoreMegabytes.toFixed(0)} MB of memory more than the ${idleMegabytes.toFixed(0)} MB of a sidecar without calls.
`;
}
