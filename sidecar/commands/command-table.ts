import { parseArgs } from 'node:util';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import { runAccounts } from './accounts.ts';
import {
  CONFIG_OPTION,
  type CommandOptions,
  DEFAULT_CONFIG,
  JSON_OPTION,
  readingArguments,
  UsageError,
} from './arguments.ts';
import { BACKUP_OPTIONS, runBackup } from './backup.ts';
import { BRIDGE_SEND_OPTIONS, runBridgeSend } from './bridge-send.ts';
import { type CommandIo, type CommandProcess, terminalIo } from './command-process.ts';
import { COPY_OPTIONS, runCopy } from './copy.ts';
import { runDeadLetters } from './dead-letters.ts';
import { DOCTOR_OPTIONS, runDoctor } from './doctor.ts';
import { IMPORT_OPTIONS } from './import-arguments.ts';
import { INIT_OPTIONS, runInit } from './init.ts';
import { KEYS_OPTIONS, runKeys } from './keys.ts';
import { runQuarantine } from './quarantine.ts';
import { runQueue } from './queue.ts';
import { RESTORE_OPTIONS, runRestore } from './restore.ts';
import { ROWS_OPTIONS } from './rows-arguments.ts';

/** A row of the command table: what `--help` says and what is run. */
export interface Command {
  /** Lines after `node main.js NAME`. */
  readonly usage: readonly string[];
  /** A single line. */
  readonly about: string;
  readonly options: CommandOptions;
  /** More lines of `--help`. */
  readonly notes?: readonly string[];
  /** `args` without the name. True if all was done. @throws UsageError, ConfigError, or what the owner reads as one line */
  run(args: readonly string[], process: CommandProcess): Promise<boolean>;
}

const LIST_OPTIONS = { ...CONFIG_OPTION, ...JSON_OPTION } as const;

/** Everything that `main.js` does beside serving. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  init: {
    about: 'makes the configuration, one key and its secret, and says what to do next',
    usage: ['[--config FILE]'],
    options: INIT_OPTIONS,
    run: runInit,
  },
  keys: {
    about: 'makes, lists, rotates and revokes the keys with which game servers sign',
    usage: [
      'new KID [--namespaces A,B] [--operations A,B] [--addresses A,B] [--allow-unfiltered-writes] [--show-secret] [--config FILE]',
      'list [--config FILE] [--json]',
      'rotate KID [--hours N] [--again] [--show-secret] [--config FILE]',
      'revoke KID [--config FILE]',
    ],
    options: KEYS_OPTIONS,
    notes: [
      'A running sidecar reads its keys when it starts: restart it afterwards. A revoked key is refused at once, by every sidecar of the database.',
    ],
    run: runKeys,
  },
  doctor: {
    about: 'checks everything that the sidecar needs, and says what to fix',
    usage: ['[--config FILE] [--json]'],
    options: DOCTOR_OPTIONS,
    notes: ['Beside a running sidecar. Exit code 1 if something must be fixed.'],
    run: runDoctor,
  },
  backup: {
    about: 'writes the database and the waiting queued writes into a folder, and to a second place off this machine',
    usage: [
      '[--to DIR] [--keep N] [--json] [--config FILE]',
      'send [--to DIR] [--json] [--config FILE]',
      'drill [--identity FILE] [--json] [--config FILE]',
      'keygen [--json]',
      '--list [--to DIR] [--json] [--config FILE]',
    ],
    options: BACKUP_OPTIONS,
    notes: [
      'Beside a running sidecar. Schedule, second place and encryption stand under "backup" of the configuration: docs/backup.md.',
      'send: only sends the newest local backup, if it is not there yet. keygen: makes the keys for encrypted backups.',
      'drill: restores the newest backup off the machine into a database that is thrown away, and reads every row.',
    ],
    run(args, { moveIo, giveWay }) {
      giveWay();
      return runBackup(args, moveIo(endOfBackup(args)));
    },
  },
  restore: {
    about: 'brings a backup into a database that is empty in its namespaces, whichever engine that is',
    usage: [
      'BACKUP [--namespace N]… [--replace] [--config FILE]',
      '--from s3|folder --latest|--at TIME [--identity FILE] [--installation ID] [--namespace N]… [--replace] [--keep-start-line] --config FILE',
      '--from litestream --latest|--at TIME [--installation ID] [--replace] --config FILE',
      '--from s3|folder --list --config FILE',
    ],
    options: RESTORE_OPTIONS,
    notes: [
      'Stop the sidecar first. With --from the configuration needs nothing but backup.remote: the backup fills in the rest.',
    ],
    run: (args, { moveIo }) => runRestore(args, moveIo('the same command goes on where this one stopped')),
  },
  quarantine: listingCommand(
    'lists, brings back and deletes what a schema no longer declares',
    ['list [--config FILE] [--json]', 'restore|purge [ID…] [--config FILE]'],
    runQuarantine,
  ),
  'dead-letters': listingCommand(
    'lists, tries again and discards queued writes that the database refused',
    ['list [--config FILE] [--json]', 'retry|discard [ID…] [--config FILE]'],
    runDeadLetters,
  ),
  queue: listingCommand(
    'shows the journals of queued writes and their sidecars, forgets lost ones, and adopts writes for this database',
    ['list [--config FILE] [--json]', 'forget JOURNAL [--config FILE]', 'adopt NAMESPACE [--config FILE]'],
    runQueue,
  ),
  accounts: listingCommand(
    'lists the accounts of the panel, and gives a new password or second factor to a locked-out user',
    [
      'list [--config FILE] [--json]',
      'new-password NAME [--config FILE] [--json]',
      'reset-second-factor NAME [--config FILE] [--json]',
    ],
    runAccounts,
    ['Beside a running sidecar. The new password is shown once, and ends the sessions of that account.'],
  ),
  copy: {
    about: 'copies namespaces to another database and compares both',
    usage: ['--from FILE --to FILE [--namespace N]… [--replace | --compare]', '--to FILE --namespace N --discard'],
    options: COPY_OPTIONS,
    run: (args, { moveIo }) => runCopy(args, moveIo('the same command goes on where this one stopped')),
  },
  import: {
    about: 'brings tables that scripts made in MySQL or MariaDB into a namespace',
    usage: ['--url-file FILE --namespace N [--tables A,B] [--dry-run] [--config FILE]'],
    options: IMPORT_OPTIONS,
    // With its driver, which no other command needs.
    run: async (args, { moveIo }) =>
      (await import('./import.ts')).runImport(args, moveIo('the same command begins again')),
  },
  rows: {
    about: 'writes the rows of one table into a CSV or JSON lines file, and brings them back',
    usage: [
      'export --namespace N --table T [--format csv|jsonl] [--file FILE] [--filter JSON] [--null TEXT] [--escape-formulas] [--config FILE]',
      'import --namespace N --table T [--format csv|jsonl] [--file FILE] [--null TEXT] [--config FILE]',
    ],
    options: ROWS_OPTIONS,
    notes: ['Beside a running sidecar. An import inserts only: all lines are checked first, then all are written.'],
    // With its library for CSV, which no other command needs.
    run: async (args, { moveIo }) =>
      (await import('./rows.ts')).runRows(args, moveIo('the same command goes on where this one stopped')),
  },
  'bridge-send': {
    about: "hands the lines of standard input to another machine's panel",
    usage: ['--url http://HOST:PORT --token-file FILE [--module NAME] [--level LEVEL]'],
    options: BRIDGE_SEND_OPTIONS,
    notes: ['What cannot be sent now is sent later; the exit code is 1 if something did not arrive.'],
    run: (args, process) => runBridgeSend(args, process),
  },
};

/** Text for an owner who ends the command by a signal. */
function endOfBackup(args: readonly string[]): string {
  if (args.includes('send')) return 'the backup is on this machine only until the same command ends well';
  return args.includes('drill') ? 'the same command begins again' : 'there is no backup';
}

/** A command that lists and changes something of the database of one configuration. */
function listingCommand(
  about: string,
  usage: readonly string[],
  run: (words: readonly string[], config: SidecarConfig, io: CommandIo) => Promise<boolean>,
  notes: readonly string[] = [],
): Command {
  return {
    ...{ about, usage, notes, options: LIST_OPTIONS },
    run: (args, { environment }) => {
      const { values, positionals } = readingArguments(() =>
        parseArgs({ args: [...args], options: LIST_OPTIONS, allowPositionals: true }),
      );
      checkAction(positionals, usage);
      const { config = DEFAULT_CONFIG, json = false } = values;
      return run(positionals, loadConfig(config, environment, true), terminalIo(json));
    },
  };
}

/** Before the configuration is read: a word that was typed wrong is named even if there is none. @throws UsageError */
function checkAction([action]: readonly string[], usage: readonly string[]): void {
  const actions = usage.flatMap((line) => line.slice(0, line.indexOf(' ')).split('|'));
  if (action !== undefined && actions.includes(action)) return;
  throw new UsageError(`expected ${actions.join(', ')}, got ${action ?? 'nothing'}; --help tells more`);
}
