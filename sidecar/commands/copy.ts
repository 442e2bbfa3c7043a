import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../config/config-error.ts';
import type { DatabaseConfig } from '../config/database.ts';
import { loadConfig } from '../config/load-config.ts';
import { compareNamespaces, copyNamespaces, discardNamespaces } from '../moving/copy-namespaces.ts';
import { NODE_DISK } from '../write-behind/journal/disk.ts';
import { findJournalId } from '../write-behind/journal/state-file.ts';
import { readCopyArguments } from './copy-arguments.ts';
import { databaseName } from './database-name.ts';
import type { MoveIo } from './move-io.ts';
import { checkThere, logOf, withEngine } from './with-engine.ts';

/**
 * `copy --from CONFIG --to CONFIG` (docs/moving.md). True where source and target are equal at the end; differences are
 * told. Throws `ConfigError` or `MoveRefused` with one line, before anything is changed.
 */
export async function runCopy(args: readonly string[], io: MoveIo): Promise<boolean> {
  const wanted = readCopyArguments(args);
  const { namespaces } = wanted;
  const environment = withoutOverrides(io);
  const to = loadConfig(wanted.to, environment, true).database;
  const owner = `copy:${randomUUID()}`;
  const basis = { namespaces, owner, log: logOf(io), report: io.report, signal: io.signal };
  if (wanted.mode === 'discard') {
    checkThere(to);
    return withEngine(to, io, (engine) => discardNamespaces({ ...basis, to: engine }));
  }
  const { mode, replace } = wanted;
  const { database: from, writeBehind } = loadConfig(wanted.from, environment, true);
  checkPlaces(from, to);
  if (mode === 'copy' && to.provider === 'sqlite') mkdirSync(dirname(to.file), { recursive: true });
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

/** What overrides `database` of every configuration would make both the same one. */
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

/** What a sidecar goes on to apply to the source was acknowledged, and would be missing in the target. */
async function warnOfRunning(journal: string, { printError }: MoveIo): Promise<void> {
  if ((await findJournalId(journal)) === null) return;
  const lock = await NODE_DISK.lock(journal);
  lock?.release();
  if (lock !== null) return;
  printError(
    `warning: a sidecar is running with the journal ${journal}: queued writes that it applies to the source after this copy are not in the target. Stop it, and copy again with --replace, before you change over`,
  );
}
