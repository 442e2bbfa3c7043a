import { join } from 'node:path';
import type { EngineLog } from '#engine/log.ts';
import { type Disk, readAt, readWhole } from './disk.ts';
import type { PendingEntry, SettledMark } from './entries.ts';
import { BLOCK_BYTES } from './frame.ts';
import type { KeyMemory } from './key-memory.ts';
import { isKeyFile, type KeyFile, readKeyFile, recordsOf } from './key-record.ts';
import { type FoundFrame, type Gap, readSegment } from './read-segment.ts';
import { type HeaderFound, readHeader, Segment, segmentName, segmentNumber } from './segment.ts';
import type { JournalState } from './state-file.ts';

interface JournalSource {
  readonly disk: Disk;
  readonly folder: string;
  readonly headers: ReadonlyMap<number, HeaderFound>;
  /** Null if the state is missing or damaged. */
  readonly state: JournalState | null;
  readonly now: number;
}

/** Content of a journal at a start. */
export interface JournalContent {
  /** In the order of their numbers. */
  readonly segments: readonly Segment[];
  readonly pending: readonly PendingEntry[];
  readonly settled: Map<string, SettledMark>;
  readonly findings: readonly JournalFinding[];
  readonly lastPosition: number;
  /** The last group of the newest segment, the only group that may not be durable. */
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
  // The segment had a header when another one named it.
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

/** Readable files of keys whose segments are gone. */
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

/** A segment that a start has to read. */
interface Link {
  readonly number: number;
  /** End of its acknowledged groups; null if not recorded, as for the newest segment. */
  readonly end: number | null;
  readonly header: HeaderFound | 'missing';
}

/** The headers of all segments in the folder by their number. */
export async function readHeaders(disk: Disk, folder: string): Promise<Map<number, HeaderFound>> {
  const numbers = (await disk.list(folder)).map(segmentNumber).filter((number) => number !== null);
  const headers = new Map<number, HeaderFound>();
  for (const number of numbers.sort((a, b) => a - b)) {
    const file = await disk.open(join(folder, segmentName(number)), 'read');
    headers.set(number, readHeader(await readAt(file, 0, BLOCK_BYTES).finally(() => file.close())));
  }
  return headers;
}

/**
 * The segments that hold what was acknowledged, newest first. Each names the one before it; those older than the state
 * are named by it. A file without a reference was made ahead, or given up after a failed flush.
 */
export function chainOf(headers: ReadonlyMap<number, HeaderFound>, state: JournalState | null): Link[] {
  const next = state?.next ?? 1;
  const links: Link[] = [];
  let number = newestOf(headers, state);
  let end: number | null = null;
  while (number >= next) {
    const header: HeaderFound | 'missing' = headers.get(number) ?? 'missing';
    // Without the state it is unknown whether the segment was removed because all of it was settled.
    if (header !== 'missing' || state !== null) links.push({ number, end, header });
    const below: number = typeof header === 'object' ? header.previous : lowerOf(headers, number);
    end = typeof header === 'object' ? header.previousEnd : null;
    number = below;
  }
  for (const [known, knownEnd] of [...(state?.ends ?? [])].reverse()) {
    links.push({ number: known, end: knownEnd, header: headers.get(known) ?? 'missing' });
  }
  return links;
}

function newestOf(headers: ReadonlyMap<number, HeaderFound>, state: JournalState | null): number {
  const used = [...headers].filter(([, header]) => header !== 'empty').map(([number]) => number);
  const newest = state !== null && state.newest >= state.next ? state.newest : 0;
  return Math.max(newest, ...used);
}

function lowerOf(headers: ReadonlyMap<number, HeaderFound>, number: number): number {
  return Math.max(0, ...[...headers.keys()].filter((each) => each < number && headers.get(each) !== 'empty'));
}

/**
 * Damage that a start found and logged. `torn`: the last group was cut off before it was acknowledged, as by a power
 * failure. `lost`: acknowledged writes are gone.
 */
export interface JournalFinding {
  readonly kind: 'torn' | 'lost';
  readonly file: string;
  /** Bytes that could not be read as groups. */
  readonly bytes: number;
  /** Number of entries in the first damaged group, if its beginning can be read. */
  readonly writes: number | null;
  /** Positions that are gone, if known. */
  readonly firstPosition: number | null;
  readonly lastPosition: number | null;
}

/** Describes a gap by the groups around it. `before` and `after`: positions around the segment. */
function findingOf(
  file: string,
  gap: Gap,
  frames: readonly FoundFrame[],
  before: number,
  after: number | null,
): JournalFinding {
  const last = frames.filter((frame) => frame.at < gap.at).at(-1);
  const next = frames.find((frame) => frame.at > gap.at);
  const firstPosition = (last?.lastPosition ?? before) + 1;
  const lastPosition = next === undefined ? after : next.firstPosition - 1;
  return { kind: gap.kind, file, bytes: gap.bytes, writes: gap.count, firstPosition, lastPosition };
}

export function reportFinding(log: EngineLog, folder: string, finding: JournalFinding): void {
  const { kind, file, bytes, writes, firstPosition, lastPosition } = finding;
  if (kind === 'torn') {
    const what = `the last group of ${file} was cut off (${writes ?? 'some'} writes, ${bytes} bytes)`;
    log('warn', `${what}: none of it was acknowledged, unless the disk does not keep what it promised`, { folder });
    return;
  }
  log('error', `${file} of the journal is damaged or missing: ${lostBetween(firstPosition, lastPosition)}`, {
    folder,
    bytes,
  });
}

function lostBetween(first: number | null, last: number | null): string {
  if (first === null && last === null) return 'acknowledged writes may be lost, and nothing tells which';
  const from = first === null ? 'up to' : `from position ${first}`;
  const to = last === null ? 'on' : `${first === null ? 'position' : 'to'} ${last}`;
  return `acknowledged writes ${from} ${to} are lost`;
}
