import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SidecarConfig } from '../../config/load-config.ts';
import type { EngineLog } from '../../engine/log.ts';
import { openEngine } from '../../engine/open.ts';
import { makeFolder } from '../../make-folder.ts';
import { MoveBusy, MoveRefused, type MoveReport } from '../../moving/report.ts';
import { NODE_DISK } from '../../write-behind/journal/disk.ts';
import { CONTAINER, rowsOf } from '../manifest.ts';
import { restoreBackup } from '../restore-backup.ts';
import { CONTAINER_SETTINGS } from '../write-backup.ts';
import { DrillBook, type DrillResult } from './drill-book.ts';
import { identitiesOf } from './identity.ts';
import { type RemoteBackup, RemoteBackups } from './remote-backups.ts';

export interface DrillOptions {
  readonly config: SidecarConfig;
  readonly environment: NodeJS.ProcessEnv;
  /** File of the identity; null for `backup.identityFile`. */
  readonly identity: string | null;
  readonly log: EngineLog;
  readonly report: MoveReport;
  readonly signal: AbortSignal;
}

const FOLDER = 'drill';
/** Below it; the folder itself has the lock. */
const SCRATCH = 'tried';

/**
 * Takes the newest backup of this installation off the machine and restores it into a database that is thrown away, each
 * row read against the manifest. Without an identity for an encrypted one only its bytes are compared. The result is kept;
 * a failure is a result too. @throws if it is given up; MoveBusy while another one runs
 */
export async function runDrill(options: DrillOptions): Promise<DrillResult> {
  const folder = join(options.config.dataFolder, FOLDER);
  makeFolder(folder);
  const lock = await NODE_DISK.lock(folder);
  if (lock === null) throw new MoveBusy(`another drill is running in ${folder}`);
  try {
    return await drillAlone(options);
  } finally {
    lock.release();
  }
}

async function drillAlone(options: DrillOptions): Promise<DrillResult> {
  const { config, signal } = options;
  const startedMs = performance.now();
  const at = new Date().toISOString();
  const seconds = (): number => Math.round((performance.now() - startedMs) / 100) / 10;
  let found: RemoteBackup | null = null;
  const result = await withRemote(options, async (remote) => {
    found = await newestOf(remote, signal);
    const rows = await tryOut(found, remote, options);
    return { ok: true, kind: rows === null ? 'bytes' : 'opened', rows, error: null } as const;
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    const kind = found !== null && canOpen(found, options) ? 'opened' : 'bytes';
    return { ok: false, kind, rows: null, error: (error as Error).message } as const;
  });
  const { object: backup = null } = (found as RemoteBackup | null) ?? {};
  const done: DrillResult = { at, backup, seconds: seconds(), ...result };
  new DrillBook(config.dataFolder).write(done);
  return done;
}

async function withRemote<T>(
  { config, environment }: DrillOptions,
  work: (remote: RemoteBackups) => Promise<T>,
): Promise<T> {
  const remote = await RemoteBackups.open(config, environment);
  return work(remote).finally(() => remote.close());
}

async function newestOf(remote: RemoteBackups, signal: AbortSignal): Promise<RemoteBackup> {
  const own = (await remote.list(signal)).filter(({ installation }) => installation === remote.installation);
  const newest = own.at(-1);
  if (newest === undefined) throw new MoveRefused(`there is no backup of this installation in ${remote.store.place}`);
  return newest;
}

function canOpen({ isEncrypted }: RemoteBackup, { identity, config }: DrillOptions): boolean {
  return !isEncrypted || identity !== null || config.backup.identityFile !== null;
}

/** Rows that were read; null if only bytes were compared. */
async function tryOut(backup: RemoteBackup, remote: RemoteBackups, options: DrillOptions): Promise<number | null> {
  const { config, identity, report, signal } = options;
  if (!canOpen(backup, options)) {
    report.say(`compares ${backup.object}: bytes only, as there is no identity here`);
    await remote.compareBytes(backup, signal);
    return null;
  }
  const scratch = join(config.dataFolder, FOLDER, SCRATCH);
  rmSync(scratch, { recursive: true, force: true });
  makeFolder(scratch);
  try {
    const folder = join(scratch, 'backup');
    const identities = await identitiesOf(identity, config);
    report.say(`opens    ${backup.object}`);
    const manifest = await remote.fetch(backup, { folder, identities, signal });
    await restoreInto(join(scratch, 'data'), folder, options);
    return rowsOf(manifest);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A whole restore, as of a machine that has nothing. */
async function restoreInto(dataFolder: string, backup: string, options: DrillOptions): Promise<void> {
  const { log, report, signal } = options;
  mkdirSync(dataFolder, { mode: 0o700 });
  const writeBehind = { ...options.config.writeBehind, journal: join(dataFolder, 'journal') };
  const database = { ...options.config.database, ...CONTAINER_SETTINGS, file: join(dataFolder, CONTAINER) };
  const config = { ...options.config, dataFolder, writeBehind, database };
  const engine = await openEngine(database, { log, now: Date.now });
  try {
    await restoreBackup({ backup, config, namespaces: [], replace: false, log, report, signal }, engine);
  } finally {
    await engine.close();
  }
}
