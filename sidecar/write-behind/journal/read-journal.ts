import { join } from 'node:path';
import type { EngineLog } from '#engine/log.ts';
import type { Disk } from './disk.ts';
import type { PendingEntry, SettledMark } from './entries.ts';
import { findingOf, type JournalFinding } from './finding.ts';
import { isKeyFile, type KeyFile, readKeyFile, recordsOf } from './key-file.ts';
import type { KeyMemory } from './key-memory.ts';
import { readSegment } from './read-segment.ts';
import { Segment } from './segment.ts';
import { chainOf, type Link } from './segment-chain.ts';
import { type HeaderFound, segmentName } from './segment-header.ts';
import type { FoundFrame } from './segment-scan.ts';
import type { JournalState } from './state-file.ts';
import { readWhole } from './whole-file.ts';

export interface JournalSource {
  readonly disk: Disk;
  readonly folder: string;
  readonly headers: ReadonlyMap<number, HeaderFound>;
  /** Null where it is gone or damaged. */
  readonly state: JournalState | null;
  readonly now: number;
}

/** What a start finds. */
export interface JournalContent {
  /** In the order of their numbers. */
  readonly segments: readonly Segment[];
  readonly pending: readonly PendingEntry[];
  readonly settled: Map<string, SettledMark>;
  readonly findings: readonly JournalFinding[];
  readonly lastPosition: number;
  /** The last group of the newest segment: only of it is not sure that it is durable. */
  readonly lastFrame: FoundFrame | null;
}

export async function readJournal(source: JournalSource, keys: KeyMemory): Promise<JournalContent> {
  const { state, headers } = source;
  const settled = new Map(Object.entries(state?.settled ?? {}));
  const links = chainOf(headers, state);
  const read: ReadLink[] = [];
  let after: number | null = null;
  for (const link of links) {
    const one = await readLink(source, link, settled, after);
    read.unshift(one);
    if (one.firstPosition !== null) after = one.firstPosition - 1;
    for (const record of one.keys) {
      one.segment?.keys.add(record);
      keys.add(record, 0, source.now);
    }
  }
  const positions = read.map((one) => one.lastPosition);
  return {
    segments: read.map((one) => one.segment).filter((segment) => segment !== null),
    pending: read.flatMap((one) => one.pending),
    settled,
    findings: read.flatMap((one) => one.findings),
    lastPosition: Math.max(state?.lastPosition ?? 0, ...positions),
    lastFrame: read.at(-1)?.lastFrame ?? null,
  };
}

interface ReadLink {
  readonly segment: Segment | null;
  readonly pending: readonly PendingEntry[];
  readonly keys: readonly Buffer[];
  readonly findings: readonly JournalFinding[];
  readonly firstPosition: number | null;
  readonly lastPosition: number;
  readonly lastFrame: FoundFrame | null;
}

async function readLink(
  { disk, folder, state }: JournalSource,
  link: Link,
  settled: Map<string, SettledMark>,
  after: number | null,
): Promise<ReadLink> {
  const { number, header } = link;
  const file = segmentName(number);
  const before = typeof header === 'object' ? header.firstPosition - 1 : 0;
  if (header === 'missing') {
    const finding = { kind: 'lost' as const, file, bytes: link.end ?? 0, writes: null, firstPosition: null };
    return { ...NOTHING_READ, findings: [{ ...finding, lastPosition: after }], firstPosition: null };
  }
  const bytes = await readWhole(disk, join(folder, file));
  const expectedBytes = typeof header === 'object' ? header.fileBytes : bytes.length;
  const content = readSegment(bytes, { number, end: link.end, expectedBytes }, settled);
  const segment = new Segment(folder, number, bytes.length, null);
  segment.end = link.end ?? content.end;
  segment.isSealed = true;
  segment.unsettled = content.entries.length;
  const lost = content.gaps.filter((gap) => gap.kind === 'lost');
  segment.lostBytes = lost.reduce((sum, gap) => sum + gap.bytes, 0);
  const isKnown = state?.damaged.some(([each, lostBytes]) => each === number && lostBytes === segment.lostBytes);
  const gaps = content.gaps.filter((gap) => gap.kind === 'torn' || isKnown !== true);
  // It had a head when it was named.
  if (header === 'empty' && lost.length === 0) gaps.push({ at: 0, kind: 'lost', bytes: bytes.length, count: null });
  return {
    segment,
    pending: content.entries,
    keys: content.keys,
    findings: gaps.map((gap) => findingOf(file, gap, content.frames, before, after)),
    firstPosition: typeof header === 'object' ? header.firstPosition : (content.frames[0]?.firstPosition ?? null),
    lastPosition: content.frames.at(-1)?.lastPosition ?? before,
    lastFrame: content.frames.at(-1) ?? null,
  };
}

const NOTHING_READ = { segment: null, pending: [], keys: [], lastPosition: 0, lastFrame: null };

/** Files of keys whose segments are gone; those that can be read. */
export async function readKeyFiles(
  { disk, folder, now }: JournalSource,
  keys: KeyMemory,
  log: EngineLog,
): Promise<KeyFile[]> {
  const files: KeyFile[] = [];
  for (const name of (await disk.list(folder)).filter(isKeyFile)) {
    const path = join(folder, name);
    const records = await readKeyFile(disk, path);
    if (records === null) {
      log('error', `${name} of the journal is damaged: a write repeated by its key may be done twice`, { folder });
      await disk.rename(path, `${path}.damaged`).catch(() => {});
      continue;
    }
    let expiresAt = 0;
    for (const { at, expiry } of recordsOf(records)) {
      keys.add(records, at, now);
      expiresAt = Math.max(expiresAt, expiry);
    }
    files.push({ path, bytes: records.length, expiresAt });
  }
  return files;
}
