import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type MadeAndSent, makeBackup, type SentResult, sendNewest } from '../backup/make-backup.ts';
import { newIdentity } from '../backup/remote/identity.ts';
import { runDrill } from '../backup/remote/run-drill.ts';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import { grouped, sized } from '../moving/report.ts';
import {
  CONFIG_OPTION,
  type CommandOptions,
  DEFAULT_CONFIG,
  JSON_OPTION,
  readingArguments,
  UsageError,
} from './arguments.ts';
import { listAll } from './backup-list.ts';
import type { MoveIo } from './command-process.ts';
import { checkThere, databaseName, logOf } from './with-engine.ts';

export const BACKUP_OPTIONS = {
  to: { type: 'string', value: 'DIR', about: 'folder of the backups (default backup.folder of the configuration)' },
  keep: { type: 'string', value: 'N', about: 'deletes the oldest beyond N afterwards (default: none is deleted)' },
  'keep-all': { type: 'boolean', about: 'deletes no older backup, here or off this machine' },
  list: { type: 'boolean', about: 'only lists the backups that are there' },
  identity: { type: 'string', value: 'FILE', about: 'drill: the file that opens encrypted backups' },
  ...JSON_OPTION,
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

/** Words after `backup`; without one it makes a backup. */
const WORDS: readonly string[] = ['make', 'send', 'drill', 'keygen'];

interface BackupCall {
  readonly config: SidecarConfig;
  readonly folder: string;
  readonly keep: number | null;
  readonly keepsAll: boolean;
  readonly isJson: boolean;
  readonly io: MoveIo;
}

/** `backup` (docs/backup.md), beside a running sidecar. @throws with one line; then no backup was made */
export async function runBackup(args: readonly string[], io: MoveIo): Promise<boolean> {
  const { values, positionals } = readingArguments(() =>
    parseArgs({ args: [...args], options: BACKUP_OPTIONS, allowPositionals: true }),
  );
  const { to, keep, json = false, list = false, 'keep-all': keepsAll = false } = values;
  if (keep !== undefined && !/^[1-9]\d{0,4}$/.test(keep))
    throw new UsageError(`--keep: expected a number from 1, got ${keep}`);
  if (keep !== undefined && keepsAll) throw new UsageError('expected at most one of --keep and --keep-all');
  const [word = 'make', ...more] = positionals;
  if (more.length > 0) throw new UsageError(`expected one word after backup, got ${positionals.join(' ')}`);
  if (!WORDS.includes(word)) throw new UsageError(`expected ${WORDS.join(', ')}, got ${word}; --help tells more`);
  if (word === 'keygen') return keygen(json, io);
  const config = loadConfig(values.config ?? DEFAULT_CONFIG, io.environment, true);
  const folder = to === undefined ? config.backup.folder : resolve(to);
  const call = { config, folder, keep: keep === undefined ? null : Number(keep), keepsAll, isJson: json, io };
  if (list) return listAll(call);
  // Writes to MongoDB wait while it is read.
  if (config.database.provider !== 'mongodb') io.waitForIdle();
  if (word === 'send') return send(call);
  if (word === 'drill') return drill(call, values.identity ?? null);
  return make(call);
}

async function make({ config, folder, keep, keepsAll, isJson, io }: BackupCall): Promise<boolean> {
  const { report, environment, signal } = isJson ? quiet(io) : io;
  checkThere(config.database);
  const source = databaseName(config.database);
  report.say(`backs up ${source} → ${folder}`);
  const what = { config, environment, source, folder, keep, keepsAll };
  const made = await makeBackup({ ...what, log: logOf(io), report, signal });
  if (isJson) io.report.say(JSON.stringify(made));
  else tell(made, io);
  return isSent(made.remote, io);
}

/** Sends the newest local backup, after a failure of the second place. */
async function send({ config, folder, isJson, io }: BackupCall): Promise<boolean> {
  const { report, environment, signal } = isJson ? quiet(io) : io;
  const remote = await sendNewest({ config, environment, folder, log: logOf(io), report, signal });
  if (isJson) io.report.say(JSON.stringify({ remote }));
  else tellSent(remote, io);
  return isSent(remote, io);
}

/** Restores the newest backup off the machine into a database that is thrown away. */
async function drill({ config, isJson, io }: BackupCall, identity: string | null): Promise<boolean> {
  const { report, environment, signal } = isJson ? quiet(io) : io;
  const result = await runDrill({ config, environment, identity, log: logOf(io), report, signal });
  report.end();
  if (isJson) io.report.say(JSON.stringify({ drill: result }));
  else if (result.ok) {
    const read =
      result.rows === null ? 'its bytes are those that were sent' : `all ${grouped(result.rows)} rows are there`;
    report.say(`${result.backup}: ${read}, in ${result.seconds} s`);
  }
  if (!result.ok) io.printError(`the drill has failed: ${result.error}`);
  return result.ok;
}

function isSent(remote: SentResult | null, io: MoveIo): boolean {
  if (remote === null || !('error' in remote)) return true;
  io.printError(`the backup is on this machine only: ${remote.error}`);
  return false;
}

/** Lines for people become errors there, as only warnings matter. */
function quiet(io: MoveIo): MoveIo {
  const say = (line: string): void => {
    if (line.startsWith('warning: ')) io.printError(line);
  };
  const nothing = (): void => undefined;
  return { ...io, report: { say, begin: nothing, advance: nothing, table: nothing, end: nothing } };
}

function tell({ path, rows, bytes, removed, remote }: MadeAndSent, io: MoveIo): void {
  io.report.end();
  io.report.say(`made ${path}: ${grouped(rows)} rows, ${sized(bytes)}, read back and equal`);
  for (const name of removed) io.report.say(`deleted ${name}`);
  if (remote !== null) tellSent(remote, io);
}

function tellSent(remote: SentResult, { report }: MoveIo): void {
  if ('error' in remote) return;
  report.say(`sent ${remote.object}: ${sized(remote.bytes)}, SHA-256 ${remote.sha256}`);
  for (const name of remote.deleted) report.say(`deleted ${name} there`);
}

/** The identity is shown this once, and written nowhere. */
async function keygen(isJson: boolean, io: MoveIo): Promise<boolean> {
  const { identity, recipient } = await newIdentity();
  if (isJson) {
    io.report.say(JSON.stringify({ identity, recipient }));
    return true;
  }
  for (const line of [`# public key: ${recipient}`, identity]) io.report.say(line);
  io.printError('');
  io.printError(
    'Keep both lines above in a file on another machine, and on paper: without them no backup can be opened,',
  );
  io.printError(
    'and with them every backup can. They are shown this once. On this machine belongs only, in sidecar.json:',
  );
  io.printError(`  "backup": { "encryptTo": ["${recipient}"] }`);
  return true;
}
