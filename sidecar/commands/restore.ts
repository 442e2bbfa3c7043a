import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { restoreBackup } from '../backup/restore-backup.ts';
import { loadConfig } from '../config/load-config.ts';
import { CONFIG_OPTION, type CommandOptions, DEFAULT_CONFIG, readingArguments, UsageError } from './arguments.ts';
import type { MoveIo } from './command-process.ts';
import { databaseName, logOf, withEngine } from './with-engine.ts';

export const RESTORE_OPTIONS = {
  namespace: {
    type: 'string',
    value: 'N',
    multiple: true,
    about: 'only this one; may stand several times (default all)',
  },
  replace: { type: 'boolean', about: 'deletes what the database holds in these namespaces first' },
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

/** `restore BACKUP` (docs/backup.md). @throws with one line; the namespaces then stay as they were, or closed */
export async function runRestore(args: readonly string[], io: MoveIo): Promise<boolean> {
  const { values, positionals } = readingArguments(() =>
    parseArgs({ args: [...args], options: RESTORE_OPTIONS, allowPositionals: true }),
  );
  const [backup, ...more] = positionals;
  if (backup === undefined || more.length > 0)
    throw new UsageError('expected: restore BACKUP; backup --list shows them');
  const config = loadConfig(values.config ?? DEFAULT_CONFIG, io.environment, true);
  const { database } = config;
  const path = resolve(backup);
  const options = {
    backup: path,
    config,
    namespaces: [...new Set(values.namespace)],
    replace: values.replace ?? false,
  };
  io.report.say(`restores ${path} → ${databaseName(database)}`);
  if (database.provider === 'sqlite') mkdirSync(dirname(database.file), { recursive: true, mode: 0o700 });
  await withEngine(database, io, (engine) =>
    restoreBackup({ ...options, log: logOf(io), report: io.report, signal: io.signal }, engine),
  );
  io.report.end();
  io.report.say('restored; start the sidecar');
  return true;
}
