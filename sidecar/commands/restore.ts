import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readManifest } from '../backup/manifest.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { needRestoreRoom } from '../backup/restore-room.ts';
import { loadConfig } from '../config/load-config.ts';
import { CONFIG_OPTION, type CommandOptions, DEFAULT_CONFIG, readingArguments, UsageError } from './arguments.ts';
import type { MoveIo } from './command-process.ts';
import { type RemoteRestore, runRemoteRestore } from './restore-remote.ts';
import { tellRevoked } from './revoke-key.ts';
import { databaseName, logOf, withEngine } from './with-engine.ts';

export const RESTORE_OPTIONS = {
  from: { type: 'string', value: 's3|folder|litestream', about: 'a backup off this machine, of backup.remote' },
  latest: { type: 'boolean', about: 'with --from: the newest backup' },
  at: { type: 'string', value: 'TIME', about: 'with --from: the newest backup that is not after it' },
  list: { type: 'boolean', about: 'with --from: only lists the backups that are there' },
  identity: { type: 'string', value: 'FILE', about: 'with --from: the file that opens encrypted backups' },
  installation: { type: 'string', value: 'ID', about: 'with --from: the installation, if the place has several' },
  'keep-start-line': {
    type: 'boolean',
    about: "with --from: the panel starts the game server, and all else that runs by itself, as the backup's did",
  },
  namespace: {
    type: 'string',
    value: 'N',
    multiple: true,
    about: 'only this one; may stand several times (default all)',
  },
  replace: { type: 'boolean', about: 'deletes what the database holds in these namespaces first' },
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

/** `restore` (docs/backup.md). @throws with one line; the namespaces then stay as they were, or closed */
export async function runRestore(args: readonly string[], io: MoveIo): Promise<boolean> {
  const { values, positionals } = readingArguments(() =>
    parseArgs({ args: [...args], options: RESTORE_OPTIONS, allowPositionals: true }),
  );
  const { config = DEFAULT_CONFIG, replace = false, from, ...remote } = values;
  const namespaces = [...new Set(values.namespace)];
  if (from !== undefined)
    return runRemoteRestore(remoteRestore({ ...remote, from, config, namespaces, replace }, positionals), io);
  const foreign = (['latest', 'at', 'list', 'identity', 'installation', 'keep-start-line'] as const).find(
    (name) => remote[name] !== undefined,
  );
  if (foreign !== undefined) throw new UsageError(`--${foreign}: expected --from beside it`);
  const [backup, ...more] = positionals;
  if (backup === undefined || more.length > 0)
    throw new UsageError('expected: restore BACKUP; backup --list shows them');
  return restoreLocal({ backup: resolve(backup), namespaces, replace }, config, io);
}

interface GivenOptions {
  readonly from: string;
  readonly config: string;
  readonly namespaces: readonly string[];
  readonly replace: boolean;
  readonly latest?: boolean | undefined;
  readonly list?: boolean | undefined;
  readonly at?: string | undefined;
  readonly identity?: string | undefined;
  readonly installation?: string | undefined;
  readonly 'keep-start-line'?: boolean | undefined;
}

function remoteRestore(given: GivenOptions, positionals: readonly string[]): RemoteRestore {
  const { latest = false, list = false, at = null, identity = null, installation = null } = given;
  const { 'keep-start-line': keepStartLine = false } = given;
  if (positionals.length > 0) throw new UsageError('expected no name of a backup beside --from; --at chooses one');
  const ways = [latest, list, at !== null].filter(Boolean).length;
  if (ways !== 1) throw new UsageError('expected exactly one of --latest, --at TIME and --list beside --from');
  return { ...given, latest, list, at, identity, installation, keepStartLine };
}

interface LocalRestore {
  readonly backup: string;
  readonly namespaces: readonly string[];
  readonly replace: boolean;
}

async function restoreLocal(restore: LocalRestore, file: string, io: MoveIo): Promise<boolean> {
  const config = loadConfig(file, io.environment, true);
  const { database } = config;
  io.report.say(`restores ${restore.backup} → ${databaseName(database)}`);
  // Before a file of SQLite is made, which a full disk would leave half.
  needRestoreRoom({ ...restore, config }, readManifest(restore.backup));
  await withEngine(database, io, async (engine) => {
    await restoreBackup({ ...restore, config, log: logOf(io), report: io.report, signal: io.signal }, engine);
    await tellRevoked(engine, config, io);
  });
  io.report.end();
  io.report.say('restored; start the sidecar');
  return true;
}
