import type { EngineLog } from '#engine/log.ts';
import { type Disk, readWhole, reasonOf } from './disk.ts';
import type { JournalEntry, PendingEntry, SettledMark } from './entries.ts';
import { BLOCK_BYTES, FRAME_HEAD_BYTES, type FrameHead, peekFrame, readFrame } from './frame.ts';
import { keyRecord } from './key-record.ts';
import { KIND, type RecordHead, readEntry, readHead, readKey, readPayload } from './records.ts';
import { isZero, type Segment } from './segment.ts';

/** Neighbouring entries are read together, up to so many bytes, across holes of at most `MAX_HOLE_BYTES`. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const MAX_HOLE_BYTES = 64 * 1024;

interface SegmentContent extends SegmentScan {
  readonly entries: readonly PendingEntry[];
  /** Records of the keys of its entries and notes. */
  readonly keys: readonly Buffer[];
}

interface SegmentPlace {
  readonly number: number;
  readonly end: number | null;
  readonly expectedBytes: number;
}

/**
 * Entries of a segment that are not known to be settled, and its keys. Its own marks are added to `settled` first, so
 * segments are read from the newest to the oldest.
 */
export function readSegment(bytes: Buffer, place: SegmentPlace, settled: Map<string, SettledMark>): SegmentContent {
  const scan = scanSegment(bytes, place.number, place.end, place.expectedBytes);
  const records = scan.frames.flatMap((frame) => [...recordsOf(bytes, frame)]);
  for (const { head } of records) if (head.kind === KIND.mark) keepMark(settled, head);
  const entries: PendingEntry[] = [];
  const keys: Buffer[] = [];
  for (const { at, head } of records) {
    const key = head.kind === KIND.mark ? null : readKey(bytes, at);
    if (head.kind === KIND.entry) {
      if (head.position > (settled.get(head.namespace)?.position ?? 0)) entries.push(entryOf(place.number, at, head));
      if (key !== null) keys.push(keyRecord(key, { position: head.position, pending: head.pending, answer: null }));
    } else if (key !== null) {
      keys.push(keyRecord(key, { position: 0, pending: 0, answer: readPayload(bytes, at, head.length) }));
    }
  }
  return { ...scan, entries, keys };
}

function keepMark(settled: Map<string, SettledMark>, mark: SettledMark & { readonly namespace: string }): void {
  const { namespace, token, position } = mark;
  if (position > (settled.get(namespace)?.position ?? 0)) settled.set(namespace, { token, position });
}

function* recordsOf(bytes: Buffer, frame: FoundFrame): Generator<{ at: number; head: RecordHead }> {
  const end = frame.at + FRAME_HEAD_BYTES + frame.contentBytes;
  for (let at = frame.at + FRAME_HEAD_BYTES; at < end; ) {
    const head = readHead(bytes, at);
    if (head === null) throw new Error(`group ${frame.group} of segment ${frame.segment} is not what was written`);
    yield { at, head };
    at += head.length;
  }
}

function entryOf(segment: number, offset: number, head: RecordHead): PendingEntry {
  const { position, namespace, token, time, payloadBytes: bytes, retryOf, length } = head;
  return { position, namespace, token, time, bytes, retryOf, segment, offset, length };
}

export interface FoundFrame extends FrameHead {
  readonly at: number;
}

/** Bytes that should be groups but are not. */
export interface Gap {
  readonly at: number;
  /** `torn`: no acknowledged group can have been there, unless the disk lost flushed bytes. */
  readonly kind: 'torn' | 'lost';
  readonly bytes: number;
  /** Number of entries of the first group, if its first block can be read. */
  readonly count: number | null;
}

interface SegmentScan {
  readonly frames: readonly FoundFrame[];
  readonly gaps: readonly Gap[];
  /** End of the last whole group. */
  readonly end: number;
}

/**
 * Finds the groups of a segment. `sealedEnd`: end of the acknowledged groups, behind which nothing counts; null for the
 * newest segment, whose last group may have been cut off. `expectedBytes`: the size of its file when it was made.
 */
function scanSegment(bytes: Buffer, segment: number, sealedEnd: number | null, expectedBytes: number): SegmentScan {
  const limit = sealedEnd ?? bytes.length;
  const readable = bytes.subarray(0, Math.min(limit, bytes.length));
  const frames: FoundFrame[] = [];
  const gaps: Gap[] = [];
  let at = BLOCK_BYTES;
  while (at < readable.length) {
    const frame = readFrame(readable, at, segment);
    if (frame !== null) {
      frames.push({ ...frame, at });
      at += frame.length;
      continue;
    }
    const next = nextFrame(readable, at + BLOCK_BYTES, segment, frames.at(-1)?.group ?? 0);
    if (next === null) break;
    gaps.push(gapAt(readable, at, next, segment, 'lost'));
    at = next;
  }
  const tail = tailOf({ bytes, readable, segment, end: at, sealedEnd, expectedBytes });
  if (tail !== null) gaps.push(tail);
  return { frames, gaps, end: at };
}

/** Offset of the next whole group that was written after the last group found. */
function nextFrame(bytes: Buffer, from: number, segment: number, after: number): number | null {
  for (let at = from; at < bytes.length; at += BLOCK_BYTES) {
    const frame = readFrame(bytes, at, segment);
    if (frame !== null && frame.group > after) return at;
  }
  return null;
}

interface Tail {
  readonly bytes: Buffer;
  readonly readable: Buffer;
  readonly segment: number;
  readonly end: number;
  readonly sealedEnd: number | null;
  readonly expectedBytes: number;
}

function tailOf({ bytes, readable, segment, end, sealedEnd, expectedBytes }: Tail): Gap | null {
  if (sealedEnd !== null) {
    return end >= sealedEnd ? null : gapAt(bytes, end, sealedEnd, segment, 'lost');
  }
  // The file was durable in its full length before anything was acknowledged in it.
  if (bytes.length < expectedBytes) return gapAt(bytes, end, expectedBytes, segment, 'lost');
  const written = lastWritten(readable, end);
  return written === end ? null : gapAt(readable, end, written, segment, 'torn');
}

function gapAt(bytes: Buffer, at: number, to: number, segment: number, kind: Gap['kind']): Gap {
  return { at, kind, bytes: to - at, count: peekFrame(bytes, at, segment)?.count ?? null };
}

/** End of the last byte that is not zero, or `from`. */
function lastWritten(bytes: Buffer, from: number): number {
  let end = bytes.length;
  while (end - BLOCK_BYTES >= from && isZero(bytes.subarray(end - BLOCK_BYTES, end))) end -= BLOCK_BYTES;
  while (end > from && bytes[end - 1] === 0) end -= 1;
  return end;
}

/** Checks whether the acknowledged groups of a segment whose flush failed can still be read. Never throws. */
export async function checkSegment(disk: Disk, segment: Segment, log: EngineLog): Promise<void> {
  const { path: file } = segment;
  try {
    const bytes = await readWhole(disk, file);
    const { gaps } = scanSegment(bytes, segment.number, segment.end, bytes.length);
    segment.lostBytes = gaps.reduce((sum, gap) => sum + gap.bytes, 0);
    if (gaps.length === 0) return;
    log('error', 'the journal does not give back writes that were acknowledged', { file, bytes: segment.lostBytes });
  } catch (error) {
    log('error', `the journal cannot be read back after the failure: ${reasonOf(error)}`, { file });
  }
}

interface EntrySource {
  readonly disk: Disk;
  readonly folder: string;
  readonly segments: ReadonlyMap<number, Segment>;
}

/** In the order asked for. @throws Error if the disk does not return them */
export async function readEntries(
  { disk, folder, segments }: EntrySource,
  entries: readonly PendingEntry[],
  idOf: (position: number) => string,
): Promise<JournalEntry[]> {
  const read: JournalEntry[] = [];
  for (let from = 0; from < entries.length; ) {
    const to = endOfRun(entries, from);
    const first = entries[from] as PendingEntry;
    const last = entries[to - 1] as PendingEntry;
    const bytes = await segments.get(first.segment)?.read(disk, first.offset, last.offset + last.length);
    for (const place of entries.slice(from, to)) {
      const entry = bytes === undefined ? null : readEntry(bytes, place.offset - first.offset);
      if (entry === null || entry.position !== place.position) {
        throw new Error(`segment ${place.segment} of the journal ${folder} does not give back what was written`);
      }
      read.push({ ...entry, id: idOf(entry.position) });
    }
    from = to;
  }
  return read;
}

/** Index behind the last entry that is read together with the one at `from`. */
function endOfRun(entries: readonly PendingEntry[], from: number): number {
  const first = entries[from] as PendingEntry;
  let end = first.offset + first.length;
  let to = from + 1;
  for (; to < entries.length; to += 1) {
    const { segment, offset, length } = entries[to] as PendingEntry;
    if (segment !== first.segment || offset < end || offset - end > MAX_HOLE_BYTES) break;
    if (offset + length - first.offset > MAX_READ_BYTES) break;
    end = offset + length;
  }
  return to;
}
