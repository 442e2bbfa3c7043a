import { resolve } from 'node:path';
import { restoreLitestream } from '../backup/continuous/restore-litestream.ts';
import { isRestored } from '../backup/is-restored.ts';
import { readManifest } from '../backup/manifest.ts';
import { chooseBackup } from '../backup/remote/choose-backup.ts';
import { identitiesOf } from '../backup/remote/identity.ts';
import { configurationIn, RecoveryFolder, secretsIn } from '../backup/remote/recovery-folder.ts';
import { RemoteBackups } from '../backup/remote/remote-backups.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { needRestoreRoom } from '../backup/restore-room.ts';
import { ConfigError } from '../config/config-error.ts';
import { createMissing } from '../config/first-start.ts';
import { replaceFile, writeNew } from '../config/new-file.ts';
import { sectionOf } from '../config/portable-config.ts';
import {
  type RecoveredConfig,
  type RecoveryStart,
  readRecoveryStart,
  recoverConfig,
} from '../config/recovery-config.ts';
import { TargetOccupied } from '../moving/report.ts';
import { REPLACED_FOLDER } from '../program-folder.ts';
import { UsageError } from './arguments.ts';
import { listRemote } from './backup-list.ts';
import type { MoveIo } from './command-process.ts';
import { connectorLines } from './init.ts';
import { placePanel } from './place-panel.ts';
import { tellRevoked } from './revoke-key.ts';
import { databaseName, logOf, withEngine } from './with-engine.ts';

export interface RemoteRestore {
  readonly config: string;
  readonly from: string;
  readonly latest: boolean;
  readonly at: string | null;
  readonly list: boolean;
  readonly identity: string | null;
  readonly installation: string | null;
  readonly namespaces: readonly string[];
  readonly replace: boolean;
  readonly keepStartLine: boolean;
}

/** `restore --from …`: a machine out of one object and one identity. A restore that was cut goes on with the same words. */
export async function runRemoteRestore(options: RemoteRestore, io: MoveIo): Promise<boolean> {
  const start = readRecoveryStart(options.config, io.environment);
  const { remote } = start.backup;
  if (remote === null) {
    const advice = 'write the place of the backups there (docs/backup.md)';
    throw new ConfigError(`${options.config}: expected backup.remote, got none: ${advice}`);
  }
  if (options.from === 'litestream' && !options.list) return fromLitestream(options, start, io);
  if (remote.type !== options.from) throw new UsageError(`--from: backup.remote is of type ${remote.type}`);
  const backups = await RemoteBackups.open(start, io.environment);
  try {
    if (options.list) {
      listRemote(await backups.list(io.signal), false, io);
      return true;
    }
    const opened = await openBackup(backups, options, start, io);
    await recover(opened, options, start, io);
  } finally {
    backups.close();
  }
  return true;
}

/** The database alone, as it was seconds before the end. */
async function fromLitestream(options: RemoteRestore, start: RecoveryStart, io: MoveIo): Promise<boolean> {
  const { provider = 'sqlite', file = 'data/database.sqlite' } = sectionOf(start.effective, 'database');
  const { journal = 'data/journal' } = sectionOf(start.effective, 'writeBehind');
  const { remote, continuous } = start.backup;
  if (remote === null) return false;
  if (provider !== 'sqlite') throw new UsageError(`--from litestream: expected SQLite, got ${String(provider)}`);
  const database = resolve(start.folder, String(file));
  await restoreLitestream({
    ...{ program: continuous?.program ?? 'litestream', database, dataFolder: start.dataFolder, remote },
    configFile: start.file,
    journal: resolve(start.folder, String(journal)),
    ...{ installation: options.installation, at: options.at === null ? null : timeOf(options.at) },
    ...{ replace: options.replace, environment: io.environment, signal: io.signal },
    say: (line) => io.report.say(line),
  });
  io.report.say(`restored ${database}`);
  io.report.say('queued writes that were not applied stay in the journal of the old machine, and are lost without it');
  return true;
}

interface Opened {
  readonly folder: string;
  /** By an earlier restore, which was cut. */
  readonly isResumed: boolean;
}

async function openBackup(
  backups: RemoteBackups,
  options: RemoteRestore,
  start: RecoveryStart,
  io: MoveIo,
): Promise<Opened> {
  const recovery = new RecoveryFolder(start.dataFolder);
  const at = options.at === null ? null : timeOf(options.at);
  const chosen = chooseBackup(
    await backups.list(io.signal),
    { at, installation: options.installation },
    backups.installation,
  );
  const folder = recovery.pathOf(chosen);
  if (recovery.isOpen(chosen)) {
    io.report.say(`goes on with ${chosen.object}, which an earlier restore has opened`);
    return { folder, isResumed: true };
  }
  recovery.clear();
  const identities = await identitiesOf(options.identity, start);
  io.report.say(`opens    ${chosen.object} of ${backups.store.place}`);
  await backups.fetch(chosen, { folder, identities, signal: io.signal });
  return { folder, isResumed: false };
}

function timeOf(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}(T\d{2}[:-]\d{2}([:-]\d{2}(\.\d+)?)?Z)?$/.test(text)
    ? Date.parse(text.replace(/T(\d{2})-(\d{2})(?:-(\d{2}))?Z$/, (_, h, m, s = '00') => `T${h}:${m}:${s}Z`))
    : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError(`--at: expected a time such as 2026-11-22T04:30:00Z, got ${text}`);
  // A day alone means all of it.
  return text.length === 10 ? time + 86_399_999 : time;
}

/** The configuration is written last, so that until then the same command finds the same start. */
async function recover(
  { folder, isResumed }: Opened,
  options: RemoteRestore,
  start: RecoveryStart,
  io: MoveIo,
): Promise<void> {
  const recovered = recoverConfig(start, configurationIn(folder), secretsIn(folder), io.environment);
  const { config } = recovered;
  const { database } = config;
  io.report.say(`restores ${folder} → ${databaseName(database)}`);
  const { namespaces, replace } = options;
  if (!isResumed) needRestoreRoom({ backup: folder, config, namespaces, replace }, readManifest(folder));
  const restore = { backup: folder, config, namespaces, replace, log: logOf(io), report: io.report, signal: io.signal };
  const recovery = new RecoveryFolder(start.dataFolder);
  await withEngine(database, io, async (engine) => {
    if (!isResumed || !(await isRestored(engine, folder, namespaces))) await restoreBackup(restore, engine);
    await tellRevoked(engine, config, io);
  }).catch((error: unknown) => {
    // Nothing goes on from here, and what was opened may hold secrets.
    if (error instanceof TargetOccupied) recovery.clear();
    throw error;
  });
  io.report.end();
  for (const line of await placePanel(folder, config.panel.data, options.keepStartLine)) io.report.say(line);
  for (const [path, content] of recovered.files) writeNew(path, content);
  tell(recovered, start, io);
  replaceFile(start.file, recovered.text, 0o600);
  createMissing(start.file, io.environment, REPLACED_FOLDER);
  recovery.clear();
  io.report.say(`restored; start the sidecar with node main.js --config ${start.file}`);
}

/** Before the file that ends the recovery is written: if it is cut here, the same command says it again. */
function tell(
  { config, files, newSecrets, leftOut, missing }: RecoveredConfig,
  { file }: RecoveryStart,
  { report }: MoveIo,
): void {
  if (files.size > 0) report.say(`${files.size} files of secrets are there again; game servers need no change`);
  for (const { kid, file: path } of newSecrets) report.say(`the secret of the key ${kid} is new: ${path}`);
  if (newSecrets.length > 0) report.say('each game server that signs with such a key needs the new one:');
  for (const { kid } of newSecrets) {
    const key = config.keys.find((one) => one.kid === kid);
    if (key === undefined) continue;
    const { operations, namespaces, allowUnfilteredWrites, addresses } = key;
    const ofFile = { kid, secretFile: `secrets/${kid}.secret`, ...{ allowUnfilteredWrites } };
    for (const line of connectorLines(
      config.api,
      { ...ofFile, operations: [...operations], namespaces: [...namespaces], addresses: [...addresses] },
      null,
    ))
      report.say(line);
  }
  for (const line of leftOut) report.say(`left out: ${line}`);
  for (const line of missing) report.say(`missing: ${line}`);
  report.say(`${file} now holds what the backup's configuration adds`);
}
