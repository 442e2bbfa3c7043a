import { forgetJournal, readJournalNote } from '../cluster/journal-notes.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import { fenced, placesOf, withOlder } from '../engine/model/queue-places.ts';
import type { Orphan, PastPlace, QueueRow } from '../engine/queues.ts';
import { copyLetters, mergedQueues, readNamespaceQueue } from '../moving/copy-queue.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { MoveRefused, type MoveReport } from '../moving/report.ts';
import { SYSTEM_CLOCK } from '../write-behind/journal/clock.ts';
import { NODE_DISK } from '../write-behind/journal/disk.ts';
import type { JournalEntry, PendingEntry } from '../write-behind/journal/entries.ts';
import { Journal } from '../write-behind/journal/journal.ts';
import { findJournalId } from '../write-behind/journal/state-file.ts';
import { orphanOf, sortByRow } from '../write-behind/sort-by-row.ts';
import type { Manifest } from './manifest.ts';
import { readWaiting } from './waiting-writes.ts';

export interface RestoredQueuesOptions {
  readonly config: SidecarConfig;
  readonly log: EngineLog;
  readonly report: MoveReport;
  /** Journal of the sidecar that restores itself, with no entry of these namespaces; null if no sidecar may run. */
  readonly journal: Journal | null;
}

export interface QueueRestore {
  readonly manifest: Manifest;
  readonly names: readonly string[];
  readonly from: Engine;
  readonly to: Engine;
}

/** How many writes are on their way into the journal at once. */
const BATCH = 500;

/**
 * Queued writes after a restore (docs/backup.md). The restored rows are a new beginning: every journal
 * goes on under a token that it had never before. What the backup says to have waited is put into this configuration's
 * journal once more, and counts as applied for the journal it came from. What any journal holds beyond that becomes dead letters
 * when a sidecar runs with it: it is neither applied to rows that are older than it, nor lost.
 */
export class RestoredQueues {
  readonly #options: RestoredQueuesOptions;
  #journal: Journal | null = null;
  #pending: readonly PendingEntry[] = [];
  readonly #brought = new Map<string, PendingEntry[]>();

  private constructor(options: RestoredQueuesOptions) {
    this.#options = options;
  }

  /** Keeps every sidecar away from the journal. @throws MoveRefused if a sidecar is running */
  static async open(options: RestoredQueuesOptions): Promise<RestoredQueues> {
    const { journal: folder, namespaces } = options.config.writeBehind;
    const queues = new RestoredQueues(options);
    if (options.journal !== null) {
      queues.#journal = options.journal;
      return queues;
    }
    const isThere = (await findJournalId(folder)) !== null;
    const lock = isThere ? await NODE_DISK.lock(folder) : null;
    if (isThere && lock === null) {
      throw new MoveRefused(`a sidecar is running with the journal ${folder}: stop it first`);
    }
    lock?.release();
    if (isThere || namespaces.size > 0) await queues.#openJournal();
    return queues;
  }

  async close(): Promise<void> {
    if (this.#options.journal === null) await this.#journal?.close();
  }

  /** Entries that were put into the journal, by namespace. */
  get brought(): ReadonlyMap<string, readonly PendingEntry[]> {
    return this.#brought;
  }

  async restore(work: QueueRestore, waitingFile: string | null): Promise<void> {
    for (const namespace of work.names) await this.#restoreOne(work, namespace, waitingFile);
  }

  /** All namespaces are open: nothing of this restore is to be done again. */
  async done(to: Engine, names: readonly string[]): Promise<void> {
    for (const name of names) await patiently(() => to.transfer.writeMark(noteName(name), null, statementBounds()));
  }

  async #openJournal(): Promise<Journal> {
    if (this.#journal !== null) return this.#journal;
    const { config, log } = this.#options;
    const opened = await Journal.open({
      folder: config.writeBehind.journal,
      disk: NODE_DISK,
      clock: SYSTEM_CLOCK,
      log,
    });
    this.#journal = opened.journal;
    this.#pending = opened.pending;
    return opened.journal;
  }

  async #restoreOne(work: QueueRestore, namespace: string, waitingFile: string | null): Promise<void> {
    const { from, to, manifest } = work;
    const source = await readNamespaceQueue(from, namespace);
    const there = await readNamespaceQueue(to, namespace);
    await copyLetters(to, source, there);
    const rows = await this.#noted(to, namespace, mergedQueues(source.rows, there.rows));
    const { waitingWrites = 0 } = manifest.namespaces.find(({ name }) => name === namespace) ?? {};
    const isListed = this.#options.config.writeBehind.namespaces.has(namespace);
    if (!isListed && waitingWrites === 0) {
      for (const row of rows) await writeRow(to, fenced(row));
      return;
    }
    const journal = await this.#openJournal();
    const own = rows.find((row) => row.journal === journal.id);
    const token = 1 + Math.max(own?.token ?? 0, this.#lastToken(namespace));
    await patiently(() =>
      to.transfer.writeMark(noteName(namespace), JSON.stringify({ journal: journal.id, token }), statementBounds()),
    );
    const waiting =
      waitingFile === null || waitingWrites === 0 ? null : { file: waitingFile, journal: manifest.journal ?? '' };
    const brought =
      waiting === null ? NOTHING : await this.#bring(source.rows, waiting, { namespace, token, journal, to });
    await journal.saveNamespace({ namespace, token, isOwner: true, since: Date.now(), stored: null });
    const settled = settledBy(rows, namespace, waiting?.journal ?? null, brought.lastPosition);
    for (const row of settled) if (row.journal !== journal.id) await writeRow(to, fenced(row));
    const before = settled.find((row) => row.journal === journal.id);
    await writeRow(to, {
      ...{ namespace, journal: journal.id, token, position: 0 },
      past: before === undefined ? [] : fenced(before).past,
    });
    this.#tell(namespace, brought.writes, brought.letters);
    await this.#forgetBefore(to, manifest.journal, journal.id);
  }

  /** On another machine than that of the backup: its journal is not in use here, and its writes are in this one. */
  async #forgetBefore(to: Engine, before: string | null, own: string): Promise<void> {
    if (before === null || before === own) return;
    const note = await patiently(() => readJournalNote(to, before, statementBounds()));
    if (note === null) await patiently(() => forgetJournal(to, before, statementBounds()));
  }

  /** Highest token with which this journal has ever dealt with the queue. */
  #lastToken(namespace: string): number {
    const journal = this.#journal;
    const tokens = this.#pending.filter((entry) => entry.namespace === namespace).map(({ token }) => token);
    const known = [journal?.namespaces().get(namespace)?.token ?? 0, journal?.settledTo(namespace)?.token ?? 0];
    return tokens.reduce((most, token) => Math.max(most, token), Math.max(...known));
  }

  /** Entries of a restore that was cut off are put into the journal again, so its first writes count as settled. */
  async #noted(to: Engine, namespace: string, rows: readonly QueueRow[]): Promise<readonly QueueRow[]> {
    const note = await patiently(() => to.transfer.readMark(noteName(namespace), statementBounds()));
    if (note === null) return rows;
    const { journal, token } = JSON.parse(note) as { readonly journal: string; readonly token: number };
    const { lastPosition } = await this.#openJournal();
    return withPlaces(rows, { namespace, journal }, [{ token, position: lastPosition }]);
  }

  /** Puts the writes that waited into the journal, in their order, under the new token. */
  async #bring(
    rows: readonly QueueRow[],
    waiting: { readonly file: string; readonly journal: string },
    target: { readonly namespace: string; readonly token: number; readonly journal: Journal; readonly to: Engine },
  ): Promise<Brought> {
    const { namespace, token, journal, to } = target;
    const row = rows.find((known) => known.journal === waiting.journal) ?? null;
    let [writes, letters, lastPosition] = [0, 0, new Map<number, number>()];
    for await (const entries of batches(waiting.file, namespace)) {
      const { live, orphans } = sortWaiting(row, entries);
      const appended = await Promise.all(live.map((entry) => journal.append({ ...entry, token })));
      this.#brought.set(namespace, [...(this.#brought.get(namespace) ?? []), ...appended]);
      const lost = orphans.filter(({ retryOf }) => retryOf === null).map(orphanOf);
      await addLetters(to, lost);
      for (const entry of [...live, ...orphans]) lastPosition = lastPosition.set(entry.token, entry.position);
      writes += live.length;
      letters += lost.length;
    }
    return { writes, letters, lastPosition };
  }

  #tell(namespace: string, writes: number, letters: number): void {
    const { report } = this.#options;
    if (writes > 0)
      report.say(`${namespace}: ${writes} queued writes that waited are in the journal, and are applied at the start`);
    if (letters > 0)
      report.say(
        `${namespace}: ${letters} queued writes that are older than a restore are dead letters; see: dead-letters list`,
      );
    const left = this.#pending.filter((entry) => entry.namespace === namespace).length;
    if (left > 0) {
      report.say(
        `${namespace}: ${left} queued writes that the journal held before become dead letters at the start, as they may be newer than these rows; see: dead-letters list`,
      );
    }
  }
}

interface Brought {
  readonly writes: number;
  readonly letters: number;
  /** Token under which they were accepted to the last position. */
  readonly lastPosition: ReadonlyMap<number, number>;
}

const NOTHING: Brought = { writes: 0, letters: 0, lastPosition: new Map() };

function sortWaiting(row: QueueRow | null, entries: readonly JournalEntry[]) {
  // A database that never had the queue: nothing says that they were meant for it.
  if (row === null) return { live: [], orphans: entries };
  const byPosition = new Map(entries.map((entry) => [entry.position, entry]));
  const sorted = sortByRow(row, entries.map(withoutPlace), () => false);
  const whole = (some: readonly PendingEntry[]) => some.map(({ position }) => byPosition.get(position) as JournalEntry);
  return { live: whole(sorted.live), orphans: whole(sorted.orphans) };
}

/** As a journal knows it that has it on its disk. */
function withoutPlace({ position, namespace, token, time, payload, retryOf }: JournalEntry): PendingEntry {
  return { position, namespace, token, time, bytes: payload.length, retryOf, segment: 0, offset: 0, length: 0 };
}

async function* batches(file: string, namespace: string): AsyncGenerator<JournalEntry[]> {
  let batch: JournalEntry[] = [];
  for await (const entry of readWaiting(file)) {
    if (entry.namespace !== namespace) continue;
    batch.push(entry);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function addLetters(to: Engine, orphans: readonly Orphan[]): Promise<void> {
  if (orphans.length === 0) return;
  await patiently(() =>
    to.queues.addLetters(
      orphans.map(({ letter }) => letter),
      statementBounds(),
    ),
  );
}

/** The journal that they came from need not bring them again. */
function settledBy(
  rows: readonly QueueRow[],
  namespace: string,
  journal: string | null,
  last: ReadonlyMap<number, number>,
): readonly QueueRow[] {
  if (journal === null || last.size === 0) return rows;
  const known = rows.find((row) => row.journal === journal);
  const reached = new Map(known === undefined ? [] : placesOf(known).map((place) => [place.token, place.position]));
  const places = [...last].map(([token, position]) => ({
    token,
    position: Math.max(position, reached.get(token) ?? 0),
  }));
  return withPlaces(rows, { namespace, journal }, places);
}

/** The rows, in which the journal has these places. */
function withPlaces(
  rows: readonly QueueRow[],
  of: Pick<QueueRow, 'namespace' | 'journal'>,
  places: readonly PastPlace[],
): readonly QueueRow[] {
  const known = rows.find(({ journal }) => journal === of.journal);
  const all = withOlder(places, known === undefined ? [] : placesOf(known));
  const { token, position } = all.at(-1) ?? { token: 0, position: 0 };
  const row = { ...of, token, position, past: all.slice(0, -1) };
  return [...rows.filter(({ journal }) => journal !== of.journal), row];
}

function writeRow(to: Engine, row: QueueRow): Promise<void> {
  return patiently(() => to.transfer.writeQueue(row, statementBounds()));
}

function noteName(namespace: string): string {
  return `restore:${namespace}`;
}
