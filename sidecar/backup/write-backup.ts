import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import { openEngine } from '../engine/open.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import type { DatabaseSettings } from '../engine/settings.ts';
import { summarise } from '../moving/checksum.ts';
import { type ComparedPlace, isEqualPlace } from '../moving/compare.ts';
import { copyContents } from '../moving/copy-namespace.ts';
import { copyQueue, readNamespaceQueue } from '../moving/copy-queue.ts';
import { copyRevoked } from '../moving/copy-revoked.ts';
import { namingFullDisk, needSpace } from '../moving/free-space.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { keptPlace, tablePlace } from '../moving/place.ts';
import { type CopyEngines, MoveRefused, type MoveReport } from '../moving/report.ts';
import { storedSchema } from '../moving/revision.ts';
import { openTarget, prepareTarget } from '../moving/target.ts';
import { findJournalId } from '../write-behind/journal/state-file.ts';
import { inNewBackup } from './backup-folder.ts';
import { type BackedUpNamespace, CONTAINER, describeFile, MANIFEST, newManifest, rowsOf, WAITING } from './manifest.ts';
import { type JournalNotHeld, settleOtherJournals, tellNotHeld } from './other-journals.ts';
import { copyOwnFiles, type OwnFiles } from './own-files.ts';
import { readSource } from './source-view.ts';
import { copyWaiting, type WaitingWrites } from './waiting-writes.ts';

export interface BackupOptions {
  readonly database: DatabaseSettings;
  /** The database for the owner's eyes, without account and password. */
  readonly source: string;
  /** Folder of queued writes. */
  readonly journal: string;
  /** Where backups are kept. */
  readonly folder: string;
  readonly own: OwnFiles;
  readonly log: EngineLog;
  readonly report: MoveReport;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface MadeBackup {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Below the folder of the backup, so that the disk of the backups has to have the room. It goes before the backup gets its name. */
const SCRATCH = 'scratch';

/** A single connection for reading and another for writing are enough. */
export const CONTAINER_SETTINGS = { provider: 'sqlite', poolSize: 2 } as const;

/**
 * Writes a backup beside a running sidecar: the database at one moment, and what its journal held just before. Everything is
 * read back and compared before the backup gets its name.
 * @throws MoveRefused and others with one line; then there is no backup
 */
export async function writeBackup(options: BackupOptions): Promise<MadeBackup> {
  let made = { rows: 0, bytes: 0 };
  const { folder } = options;
  const needed = neededBytes(options.database);
  if (needed !== undefined) needSpace(folder, needed, 'the backup');
  const path = await namingFullDisk({ folder, needed }, () =>
    inNewBackup(folder, options.now(), async (partial) => {
      made = await fill(partial, options);
    }),
  );
  return { path, ...made };
}

/** SQLite: a copy of the file is the view of one moment, and its rows go into another file. Undefined: not known. */
function neededBytes(database: DatabaseSettings): number | undefined {
  if (database.provider !== 'sqlite' || !existsSync(database.file)) return undefined;
  return 2 * statSync(database.file).size;
}

async function fill(
  folder: string,
  options: BackupOptions,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const { report, journal: journalFolder, source, log, signal } = options;
  const waiting = await copyWaiting(journalFolder, join(folder, WAITING));
  if (waiting.damages > 0) {
    report.say(`warning: the journal ${journalFolder} is damaged; the backup has what can be read of it`);
  }
  const time = new Date(options.now()).toISOString();
  const scratch = join(folder, SCRATCH);
  mkdirSync(scratch, { mode: 0o700 });
  const journal = await findJournalId(journalFolder);
  let notHeld: JournalNotHeld[] = [];
  const prepare = async (engine: Engine): Promise<void> => {
    notHeld = await settleOtherJournals(engine, journal, signal);
  };
  const namespaces = await readSource({ ...options, scratch, prepare }, (from, stored) =>
    inContainer(folder, log, (to) => copyAll({ from, to }, stored, waiting, options)),
  );
  rmSync(scratch, { recursive: true });
  await inContainer(folder, log, (engine) => checkAgain(engine, namespaces));
  const own = copyOwnFiles(options.own, folder, (line) => report.say(line));
  const files = [];
  for (const name of [CONTAINER, WAITING, ...own]) files.push(await describeFile(flushed(join(folder, name))));
  for (const one of notHeld) report.say(`warning: ${tellNotHeld(one)}`);
  const facts = { time, source, journal, namespaces, files, ...(notHeld.length > 0 && { notHeld }) };
  const text = JSON.stringify(newManifest(facts), null, 2);
  writeFileSync(join(folder, MANIFEST), `${text}\n`, { mode: 0o600, flag: 'wx' });
  flushed(join(folder, MANIFEST));
  return { rows: rowsOf({ namespaces }), bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

async function inContainer<T>(folder: string, log: EngineLog, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openEngine({ ...CONTAINER_SETTINGS, file: join(folder, CONTAINER) }, { log, now: Date.now });
  try {
    await engine.ping(statementBounds());
    return await work(engine);
  } finally {
    await engine.close();
  }
}

async function copyAll(
  engines: CopyEngines,
  stored: readonly StoredSchema[],
  waiting: WaitingWrites,
  { report, signal }: BackupOptions,
): Promise<BackedUpNamespace[]> {
  const namespaces: BackedUpNamespace[] = [];
  for (const from of stored) {
    const { namespace, schema } = from;
    const say = (line: string): void => report.say(line);
    const to = await prepareTarget({ engine: engines.to, namespace, schema, replace: false, say });
    const compared = await copyContents({ engines, stored: { from, to }, report, signal });
    refuseDifferent(namespace, compared);
    await copyQueue(engines, namespace, { say: () => undefined });
    await openTarget(engines.to, namespace);
    const { letters } = await readNamespaceQueue(engines.to, namespace);
    const places = compared.map(({ label, to: { rows, checksum } }) => ({ label, rows, checksum }));
    const waitingWrites = waiting.counts.get(namespace) ?? 0;
    namespaces.push({ name: namespace, places, deadLetters: letters.length, waitingWrites });
  }
  await copyRevoked(engines);
  return namespaces;
}

function refuseDifferent(namespace: string, compared: readonly ComparedPlace[]): void {
  const different = compared.find((place) => !isEqualPlace(place));
  if (different === undefined) return;
  throw new MoveRefused(
    `${namespace}.${different.label} is not the same in the backup as in the database; run it again`,
  );
}

/** Whether a database holds the rows of a backup and nothing else of its namespaces. @throws MoveRefused if not */
export async function checkAgain(engine: Engine, namespaces: readonly BackedUpNamespace[]): Promise<void> {
  for (const { name, places } of namespaces) {
    const stored = await storedSchema(engine, name);
    if (stored === null) throw new MoveRefused(`the backup lacks ${name}; run it again`);
    const kept = await patiently(() => engine.transfer.listKept(name, statementBounds()));
    const found = [
      ...stored.schema.tables.map((table) => tablePlace(stored, table)),
      ...kept.map((object) => keptPlace(stored, object)),
    ];
    for (const place of found) {
      const { rows, checksum } = await summarise(engine, place, () => undefined);
      const isThere = places.some((one) => one.label === place.label && one.rows === rows && one.checksum === checksum);
      if (!isThere)
        throw new MoveRefused(`${name}.${place.label} cannot be read back from the backup; is the disk sound?`);
    }
    if (found.length !== places.length) throw new MoveRefused(`the backup of ${name} is not whole; run it again`);
  }
}

function flushed(path: string): string {
  const descriptor = openSync(path, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  return path;
}
