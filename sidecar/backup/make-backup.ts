import type { SidecarConfig } from '../config/load-config.ts';
import { readConfigText } from '../config/load-config.ts';
import type { RawConfig } from '../config/portable-config.ts';
import { collectSecrets } from '../config/portable-secrets.ts';
import type { EngineLog } from '../engine/log.ts';
import { MoveRefused, type MoveReport } from '../moving/report.ts';
import { type KeptBackup, keptBackup, newestBackup, removeOld, withBackupFolder } from './backup-folder.ts';
import { RemoteBackups } from './remote/remote-backups.ts';
import { type MadeBackup, writeBackup } from './write-backup.ts';

export interface MakeOptions {
  readonly config: SidecarConfig;
  readonly environment: NodeJS.ProcessEnv;
  /** The database for the owner's eyes. */
  readonly source: string;
  readonly folder: string;
  /** Number of local backups that stay; null for all. */
  readonly keep: number | null;
  /** Deletes nothing off the machine: what is kept there may be restored next. */
  readonly keepsAll?: boolean;
  readonly log: EngineLog;
  readonly report: MoveReport;
  readonly signal: AbortSignal;
}

type SendOptions = Omit<MakeOptions, 'source' | 'keep'>;

/** A backup off the machine, as `backup --json` tells of it. */
export type SentResult =
  | { readonly object: string; readonly bytes: number; readonly sha256: string; readonly deleted: readonly string[] }
  /** A single line: it is on this machine only. */
  | { readonly error: string };

export interface MadeAndSent extends MadeBackup {
  /** Names of the local backups that were deleted. */
  readonly removed: readonly string[];
  /** Null without `backup.remote`. */
  readonly remote: SentResult | null;
}

/** Pages of a cold disk may take their time. */
const LIMITS = { poolSize: 2, statementTimeoutMs: 60_000 };

/** Makes a backup and, with `backup.remote`, sends it. A failure of the second place leaves the local backup. */
export async function makeBackup(options: MakeOptions): Promise<MadeAndSent> {
  const { config, keep } = options;
  const { database, writeBehind, panel } = config;
  const made = await writeBackup({
    ...{ ...options, journal: writeBehind.journal, now: Date.now },
    database: { ...database, ...LIMITS },
    own: { config: config.file, panel: panel.data },
  });
  const removed = keep === null ? [] : await removing(options, keep, made.path);
  const remote = config.backup.remote === null ? null : await sendMade(made.path, options);
  return { ...made, removed, remote };
}

async function sendMade(path: string, options: MakeOptions): Promise<SentResult> {
  try {
    return await sendKept(keptBackup(path), options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
    throw new MoveRefused(`ended before it was sent: the backup ${path} is on this machine only; backup send sends it`);
  }
}

async function removing({ folder, report }: MakeOptions, keep: number, made: string): Promise<string[]> {
  try {
    return await withBackupFolder(folder, async () => removeOld(folder, keep, made));
  } catch (error) {
    report.say(`warning: old backups of this machine were not deleted: ${(error as Error).message}`);
    return [];
  }
}

/** Sends the newest local backup, unless it is there. Never throws but for the folder itself. */
export function sendNewest(options: SendOptions): Promise<SentResult> {
  return sendKept(newestBackup(options.folder, Date.now()), options);
}

async function sendKept(kept: KeptBackup | null, options: SendOptions): Promise<SentResult> {
  const { folder, signal } = options;
  if (kept === null) throw new MoveRefused(`there is no backup in ${folder} to send: make one with backup`);
  try {
    return await withBackupFolder(folder, () => send(kept, options));
  } catch (error) {
    if (signal.aborted) throw error;
    return { error: (error as Error).message };
  }
}

async function send(newest: KeptBackup, options: SendOptions): Promise<SentResult> {
  const { config, environment, report, signal } = options;
  const remote = await RemoteBackups.open(config, environment);
  try {
    const isOurs = (one: { installation: string }) => one.installation === remote.installation;
    const there = (await remote.list(signal)).find((one) => one.backup === newest.name && isOurs(one));
    const known = there?.known ?? null;
    if (known !== null && known.bytes === there?.bytes) return { ...known, deleted: [] };
    await remote.abortUnfinished(signal).catch((error: unknown) => {
      report.say(`warning: uploads that were cut off were not ended: ${(error as Error).message}`);
    });
    report.say(`sends ${newest.name} → ${remote.store.place}`);
    const { object, bytes, sha256 } = await remote.send(newest, secretsOf(config), signal);
    const deleted = options.keepsAll === true ? [] : await pruned(remote, options);
    return { object, bytes, sha256, deleted };
  } finally {
    remote.close();
  }
}

function pruned(remote: RemoteBackups, { report, signal }: SendOptions): Promise<string[]> {
  return remote.prune(signal).catch((error: unknown) => {
    report.say(`warning: old backups off this machine were not deleted: ${(error as Error).message}`);
    return [];
  });
}

function secretsOf({ backup, file, folder }: SidecarConfig): string | null {
  if (!backup.secrets) return null;
  return JSON.stringify(collectSecrets(JSON.parse(readConfigText(file)) as RawConfig, folder));
}
