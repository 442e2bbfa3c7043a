import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { listBackups, removeOld } from '../backup/backup-folder.ts';
import { type MadeBackup, writeBackup } from '../backup/write-backup.ts';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import { grouped } from '../moving/report.ts';
import {
  CONFIG_OPTION,
  type CommandOptions,
  DEFAULT_CONFIG,
  JSON_OPTION,
  readingArguments,
  UsageError,
} from './arguments.ts';
import type { MoveIo } from './command-process.ts';
import { alignedLines } from './lines.ts';
import { checkThere, databaseName, logOf } from './with-engine.ts';

export const BACKUP_OPTIONS = {
  to: { type: 'string', value: 'DIR', about: 'folder of the backups (default backup.folder of the configuration)' },
  keep: { type: 'string', value: 'N', about: 'deletes the oldest beyond N afterwards (default: none is deleted)' },
  list: { type: 'boolean', about: 'only lists the backups that are there' },
  ...JSON_OPTION,
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

/** `backup` (docs/backup.md), beside a running sidecar. @throws with one line; then no backup was made */
export async function runBackup(args: readonly string[], io: MoveIo): Promise<boolean> {
  const { values } = readingArguments(() => parseArgs({ args: [...args], options: BACKUP_OPTIONS }));
  const { to, keep, json = false, list = false } = values;
  if (keep !== undefined && !/^[1-9]\d{0,4}$/.test(keep))
    throw new UsageError(`--keep: expected a number from 1, got ${keep}`);
  const config = loadConfig(values.config ?? DEFAULT_CONFIG, io.environment, true);
  const folder = to === undefined ? config.backup.folder : resolve(to);
  if (list) return listAll(folder, json, io);
  const made = await make(config, folder, json ? quiet(io) : io);
  const removed = keep === undefined ? [] : removeOld(folder, Number(keep));
  if (json) io.report.say(JSON.stringify({ ...made, removed }));
  else tell(made, removed, io);
  return true;
}

function make(config: SidecarConfig, folder: string, io: MoveIo): Promise<MadeBackup> {
  const { database, writeBehind } = config;
  checkThere(database);
  io.report.say(`backs up ${databaseName(database)} → ${folder}`);
  // Pages of a cold disk may take their time.
  const limits = { poolSize: 2, statementTimeoutMs: 60_000 };
  return writeBackup({
    ...{ folder, source: databaseName(database), journal: writeBehind.journal, now: Date.now },
    ...{ log: logOf(io), report: io.report, signal: io.signal },
    database: { ...database, ...limits },
  });
}

/** Lines for people become errors there, as only warnings matter. */
function quiet(io: MoveIo): MoveIo {
  const say = (line: string): void => {
    if (line.startsWith('warning: ')) io.printError(line);
  };
  const nothing = (): void => undefined;
  return { ...io, report: { say, begin: nothing, advance: nothing, table: nothing, end: nothing } };
}

function tell({ path, rows, bytes }: MadeBackup, removed: readonly string[], { report }: MoveIo): void {
  report.end();
  report.say(`made ${path}: ${grouped(rows)} rows, ${sizeOf(bytes)}, read back and equal`);
  for (const name of removed) report.say(`deleted ${name}`);
}

function listAll(folder: string, isJson: boolean, { report }: MoveIo): boolean {
  const backups = listBackups(folder);
  const shown = backups.map(({ path, manifest: { time, source, namespaces, files } }) => ({
    ...{ path, time, source, namespaces: namespaces.map(({ name }) => name) },
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  }));
  if (isJson) for (const one of shown) report.say(JSON.stringify(one));
  else if (shown.length === 0) report.say(`there is no backup in ${folder}`);
  else {
    const cells = shown.map(({ path, time, bytes, namespaces }) => [time, sizeOf(bytes), namespaces.join(','), path]);
    for (const line of alignedLines(['TIME', 'SIZE', 'NAMESPACES', 'BACKUP'], cells, ['SIZE'])) report.say(line);
  }
  return true;
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${grouped(Math.ceil(bytes / 1000))} kB` : `${grouped(Math.round(bytes / 1_000_000))} MB`;
}
