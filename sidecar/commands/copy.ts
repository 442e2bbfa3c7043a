import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { isNamespace } from '#protocol/identifiers.ts';
import { ConfigError } from '../config/config-error.ts';
import type { DatabaseConfig } from '../config/database.ts';
import { loadConfig } from '../config/load-config.ts';
import { makeFolder } from '../make-folder.ts';
import { compareNamespaces, copyNamespaces, discardNamespaces } from '../moving/copy-namespaces.ts';
import { NODE_DISK } from '../write-behind/journal/disk.ts';
import { findJournalId } from '../write-behind/journal/state-file.ts';
import { type CommandOptions, readingArguments } from './arguments.ts';
import type { MoveIo } from './command-process.ts';
import { checkThere, databaseName, withEngine } from './with-engine.ts';

/**
 * `copy --from CONFIG --to CONFIG` (docs/moving.md). True where source and target are equal at the end; differences are
 * told. Throws `ConfigError` or `MoveRefused` with one line, before anything is changed.
 */
export async function runCopy(args: readonly string[], io: MoveIo): Promise<boolean> {
  const wanted = readCopyArguments(args);
  const { namespaces } = wanted;
  const environment = withoutOverrides(io);
  const to = loadConfig(wanted.to, environment, true).database;
  const basis = { namespaces, report: io.report, signal: io.signal };
  if (wanted.mode === 'discard') {
    checkThere(to);
    return withEngine(to, io, (engine) => discardNamespaces({ ...basis, to: engine }));
  }
  const { mode, replace } = wanted;
  const { database: from, writeBehind } = loadConfig(wanted.from, environment, true);
  checkPlaces(from, to);
  if (mode === 'copy' && to.provider === 'sqlite') makeFolder(dirname(to.file), 0o777);
  else checkThere(to);
  if (mode === 'copy') await warnOfRunning(writeBehind.journal, io);
  io.report.say(`${mode === 'copy' ? 'copies' : 'compares'} ${databaseName(from)} → ${databaseName(to)}`);
  return withEngine(from, io, (source) =>
    withEngine(to, io, (target) => {
      const work = { ...basis, replace, engines: { from: source, to: target } };
      return mode === 'copy' ? copyNamespaces(work) : compareNamespaces(work);
    }),
  );
}

/** An override of `database` would apply to both configurations and make them the same. */
function withoutOverrides({ environment, printError }: MoveIo): NodeJS.ProcessEnv {
  const isOverride = (name: string): boolean => name.startsWith('SIDECAR_DATABASE_');
  const names = Object.keys(environment).filter(isOverride);
  if (names.length > 0) printError(`warning: ${names.join(', ')} is not used: it would stand for both databases`);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isOverride(name)));
}

function checkPlaces(from: DatabaseConfig, to: DatabaseConfig): void {
  if (databaseName(from) === databaseName(to)) {
    throw new ConfigError(`--from and --to name the same database, ${databaseName(from)}`);
  }
  checkThere(from);
}

/** Writes that a sidecar still applies to the source were acknowledged, and would be missing in the target. */
async function warnOfRunning(journal: string, { printError }: MoveIo): Promise<void> {
  if ((await findJournalId(journal)) === null) return;
  const lock = await NODE_DISK.lock(journal);
  lock?.release();
  if (lock !== null) return;
  printError(
    `warning: a sidecar is running with the journal ${journal}: queued writes that it applies to the source after this copy are not in the target. Stop it, and copy again with --replace, before you change over`,
  );
}

type CopyArguments =
  | {
      readonly mode: 'copy' | 'compare';
      /** Configurations. */
      readonly from: string;
      readonly to: string;
      /** Empty: all. */
      readonly namespaces: readonly string[];
      readonly replace: boolean;
    }
  | { readonly mode: 'discard'; readonly to: string; readonly namespaces: readonly string[] };

export const COPY_OPTIONS = {
  from: { type: 'string', value: 'FILE', about: 'configuration whose database is copied' },
  to: { type: 'string', value: 'FILE', about: 'configuration whose database it goes to' },
  namespace: {
    type: 'string',
    value: 'N',
    multiple: true,
    about: 'only this one; may stand several times (default all)',
  },
  replace: { type: 'boolean', about: 'deletes what the target holds in these namespaces first' },
  compare: { type: 'boolean', about: 'only compares both databases' },
  discard: { type: 'boolean', about: 'deletes what a copy that was cut off has left there' },
} as const satisfies CommandOptions;

/** @throws UsageError with one line */
function readCopyArguments(args: readonly string[]): CopyArguments {
  return readingArguments(() => {
    const { values } = parseArgs({ args: [...args], options: COPY_OPTIONS });
    const { from, to, namespace: given = [], replace = false, compare = false, discard = false } = values;
    const namespaces = [...new Set(given)];
    if (!namespaces.every(isNamespace)) throw new Error('--namespace expects the name of a namespace');
    if (Number(replace) + Number(compare) + Number(discard) > 1) {
      throw new Error('only one of --replace, --compare and --discard makes sense');
    }
    if (discard) {
      if (to !== undefined && from === undefined && namespaces.length > 0) return { mode: 'discard', to, namespaces };
      throw new Error('copy --discard needs --to CONFIG and --namespace N, and no --from');
    }
    if (from === undefined || to === undefined) throw new Error('copy needs --from CONFIG and --to CONFIG');
    return { mode: compare ? 'compare' : 'copy', from, to, namespaces, replace };
  });
}
