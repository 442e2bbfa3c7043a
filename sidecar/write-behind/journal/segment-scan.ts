import { BLOCK_BYTES, type FrameHead, peekFrame, readFrame } from './frame.ts';

export interface FoundFrame extends FrameHead {
  readonly at: number;
}

/** Bytes that should be groups and are not. */
export interface Gap {
  readonly at: number;
  /** `torn`: nothing acknowledged can have been there, if the disk keeps what it promises. */
  readonly kind: 'torn' | 'lost';
  readonly bytes: number;
  /** What the first block says of the group, if it can be read: how many entries it had. */
  readonly count: number | null;
}

export interface SegmentScan {
  readonly frames: readonly FoundFrame[];
  readonly gaps: readonly Gap[];
  /** Behind the last whole group. */
  readonly end: number;
}

/**
 * Finds the groups of a segment. `sealedEnd`: up to there everything was acknowledged, and nothing behind it counts; null
 * for the newest segment, whose last group may have been cut off. `expectedBytes`: what its file once had.
 */
export function scanSegment(
  bytes: Buffer,
  segment: number,
  sealedEnd: number | null,
  expectedBytes: number,
): SegmentScan {
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

/** Where the next whole group begins that was written after the last one found. */
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

/** Behind the last byte that is not zero, or `from`. */
function lastWritten(bytes: Buffer, from: number): number {
  let end = bytes.length;
  while (end > from && bytes[end - 1] === 0) end -= 1;
  return end;
}
