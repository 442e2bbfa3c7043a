import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Lease } from '../engine/cluster/leases.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import { openEngine } from '../engine/open.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { makeFolder } from '../make-folder.ts';
import { isEqualPlace, tellCompared } from '../moving/compare.ts';
import { copyContents } from '../moving/copy-namespace.ts';
import { copyRevoked } from '../moving/copy-revoked.ts';
import { namingFullDisk } from '../moving/free-space.ts';
import { HeldRoom } from '../moving/held-room.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { MoveRefused, type MoveReport } from '../moving/report.ts';
import { storedSchema } from '../moving/revision.ts';
import { lockForMove } from '../moving/source-hold.ts';
import { prepareTarget, refuseOccupied } from '../moving/target.ts';
import { readMoveMark } from '../schema/move-mark.ts';
import { refuseEarlierRequests } from '../security/time-mark.ts';
import type { PendingEntry } from '../write-behind/journal/entries.ts';
import type { Journal } from '../write-behind/journal/journal.ts';
import { CONTAINER, checkFiles, type Manifest, readManifest, WAITING } from './manifest.ts';
import { tellLacking } from './other-journals.ts';
import { RestoreOpening } from './restore-opening.ts';
import { needRestoreRoom } from './restore-room.ts';
import { RestoredQueues } from './restored-queues.ts';
import { CONTAINER_SETTINGS } from './write-backup.ts';

export interface RestoreOptions {
  /** A complete backup. */
  readonly backup: string;
  readonly config: SidecarConfig;
  /** Empty: all that the backup has. */
  readonly namespaces: readonly string[];
  /** Deletes what the target holds in these namespaces. */
  readonly replace: boolean;
  /** New name of the only namespace, beside the old one; left out for its own. */
  readonly as?: string | null;
  /** Journal of the sidecar that restores itself; left out if no sidecar may run with that of the configuration. */
  readonly journal?: Journal | null;
  /** This restore was begun before, and cut: nothing that it has finished is done again. */
  readonly isResumed?: boolean;
  readonly log: EngineLog;
  readonly report: MoveReport;
  readonly signal: AbortSignal;
}

interface RestoreWork extends RestoreOptions {
  readonly manifest: Manifest;
  readonly names: readonly string[];
  /** The backup's own database, in a copy that may be written to. */
  readonly from: Engine;
  readonly to: Engine;
  readonly queues: RestoredQueues;
  /** Locks of the namespaces, as far as they are taken. */
  readonly locks: Lease[];
  /** Room on the disk of the database for the release of the locks. */
  readonly room: HeldRoom;
}

/** Entries of queued writes that were put into the journal, by namespace. */
export type BroughtEntries = ReadonlyMap<string, readonly PendingEntry[]>;

const SCRATCH = /^restore-[0-9a-f-]{36}$/;

/**
 * Brings a backup into a database. Its namespaces are closed from the first row to the end, when all of them are there
 * and equal to the manifest; then they are opened together. A restore that was cut off leaves them closed, and the same
 * command goes on. @throws MoveRefused and others with one line
 */
export async function restoreBackup(options: RestoreOptions, to: Engine): Promise<BroughtEntries> {
  const disk = { folder: options.config.dataFolder, after: 'Run the same restore again then: it goes on' };
  return namingFullDisk(disk, () => restoreChecked(options, to));
}

async function restoreChecked(options: RestoreOptions, to: Engine): Promise<BroughtEntries> {
  const { backup, config, log, report } = options;
  const manifest = readManifest(backup);
  const names = chosenOf(manifest, options);
  report.say(`checks   ${backup}`);
  await checkFiles(backup, manifest);
  for (const one of manifest.notHeld ?? []) report.say(`warning: ${tellLacking(one)}`);
  const queues = await RestoredQueues.open({ config, log, report, journal: options.journal ?? null });
  const locks: Lease[] = [];
  const room = new HeldRoom(config.database);
  try {
    await inScratch(options, manifest, async (from) => {
      const work: RestoreWork = { ...options, manifest, names, from, to, queues, locks, room };
      const targets = names.map((name) => targetOf(name, options));
      const opening = new RestoreOpening(to, targets, manifest);
      // Without `replace` open namespaces would be refused: they are what this restore has brought.
      if (await opening.isBegun(options.isResumed === true || !options.replace)) return openRest(opening, work);
      await opening.forget();
      await refuseAnyOccupied(work);
      await restoreAll(work, opening);
    });
    return queues.brought;
  } finally {
    // A release is a write: on a disk that became full it needs the room that was held for it.
    room.release();
    for (const lock of locks) await lock.release();
    await queues.close();
  }
}

function chosenOf({ namespaces: all }: Manifest, options: RestoreOptions): readonly string[] {
  const { namespaces, backup, as = null } = options;
  const known = all.map(({ name }) => name);
  const missing = namespaces.filter((name) => !known.includes(name));
  if (missing.length > 0) throw new MoveRefused(`the backup ${backup} has no namespace ${missing.join(', ')}`);
  const chosen = namespaces.length > 0 ? namespaces : known;
  if (as !== null && chosen.length !== 1) throw new MoveRefused('a new name is for one namespace alone');
  return chosen;
}

/** The backup stays as it is: what is opened as a database may be written to. */
async function inScratch(
  options: RestoreOptions,
  manifest: Manifest,
  work: (engine: Engine) => Promise<void>,
): Promise<void> {
  const { dataFolder } = options.config;
  makeFolder(dataFolder);
  // Left by a restore that was killed; a second restore cannot run on the same journal.
  for (const name of readdirSync(dataFolder).filter((each) => SCRATCH.test(each))) {
    rmSync(join(dataFolder, name), { recursive: true, force: true });
  }
  const scratch = join(dataFolder, `restore-${randomUUID()}`);
  mkdirSync(scratch, { mode: 0o700 });
  try {
    const file = join(scratch, CONTAINER);
    needRestoreRoom(options, manifest);
    await namingFullDisk({ folder: dataFolder }, () => copyFile(join(options.backup, CONTAINER), file));
    const engine = await openEngine({ ...CONTAINER_SETTINGS, file }, { log: options.log, now: Date.now });
    await work(engine).finally(() => engine.close());
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Before anything is changed. */
async function refuseAnyOccupied({ to, names, replace, as = null }: RestoreWork): Promise<void> {
  if (replace) return;
  for (const source of names) {
    const name = targetOf(source, { as });
    const mark = await patiently(() => readMoveMark(to, name, Date.now(), statementBounds()));
    if (mark?.kind !== 'arriving' || mark.by !== 'copy') await refuseOccupied(to, name, await storedSchema(to, name));
  }
}

/** All rows are there, and maybe newer ones in namespaces that are open already. */
async function openRest(opening: RestoreOpening, { names, to, queues, report, as = null }: RestoreWork): Promise<void> {
  report.say('goes on with a restore that was cut off: all rows are there, and the rest is opened');
  await opening.end();
  if (as === null) await queues.done(to, names);
}

async function restoreAll(work: RestoreWork, opening: RestoreOpening): Promise<void> {
  const { names, to, config, report, queues, locks, room, as = null } = work;
  await room.take(names.length);
  for (const name of names) locks.push(await lockForMove(targetOf(name, work), { engine: to }));
  for (const name of names) await restoreRows(work, name);
  const until = await refuseEarlierRequests(join(config.dataFolder, 'nonces'), config.api.maxSkewSeconds);
  if (until !== null) {
    report.say(
      `requests signed before ${until} are refused, as one of them could be sent twice: this machine has no memory of them`,
    );
  }
  if (as === null) await queues.restore(work, waitingFile(work));
  else tellLeftOut(work);
  // The database of a sidecar that serves knows its own.
  if (work.journal === undefined || work.journal === null) await copyRevoked(work);
  await opening.begin();
  await opening.end();
  if (as === null) await queues.done(to, names);
}

function targetOf(name: string, { as = null }: Pick<RestoreOptions, 'as'>): string {
  return as ?? name;
}

/** Queued writes name their namespace, so they belong to the old one alone. */
function tellLeftOut({ manifest, names, report, as }: RestoreWork): void {
  const of = manifest.namespaces.filter(({ name }) => names.includes(name));
  const writes = of.reduce((sum, { waitingWrites, deadLetters }) => sum + waitingWrites + deadLetters, 0);
  if (writes > 0) report.say(`${as}: ${writes} queued writes and dead letters of the backup are left out`);
}

/** Its bytes were checked before; a file that has gone since must not look like one that was never there. */
function waitingFile({ backup, manifest }: RestoreWork): string | null {
  return manifest.files.some(({ name }) => name === WAITING) ? join(backup, WAITING) : null;
}

async function restoreRows(work: RestoreWork, name: string): Promise<void> {
  const { manifest, from, to, replace, report, signal } = work;
  const namespace = targetOf(name, work);
  const stored = (await storedSchema(from, name)) as StoredSchema;
  const say = (line: string): void => report.say(line);
  const target = await prepareTarget({ engine: to, namespace, schema: stored.schema, replace, say });
  const compared = await copyContents({ engines: { from, to }, stored: { from: stored, to: target }, report, signal });
  tellCompared(name, compared, report);
  const { places = [] } = manifest.namespaces.find((one) => one.name === name) ?? {};
  const isWhole = places.every(({ label, rows, checksum }) =>
    compared.some((place) => place.label === label && place.to.rows === rows && place.to.checksum === checksum),
  );
  if (isWhole && compared.length === places.length && compared.every(isEqualPlace)) return;
  throw new MoveRefused(`${name} is not what the backup says; it stays closed until the same command ends well`);
}
