import { crc32 } from 'node:zlib';

/** Format of all files of a journal. */
export const FORMAT = 1;

/**
 * The largest unit that disks write. Everything in a segment begins at a multiple of it, so that a write that is cut off
 * cannot damage what was acknowledged before it.
 */
export const BLOCK_BYTES = 4096;

/** Read as bytes it begins with 0xFA, which no UTF-8 text holds: no payload can look like a frame. */
const FRAME_MAGIC = 0x52_46_4a_fa;
const END_MAGIC = 0x44_4e_45_fa;
const MAGIC = 0;
const SEGMENT = 4;
const GROUP = 8;
const LENGTH = 12;
const CONTENT = 16;
const COUNT = 20;
const FIRST_POSITION = 24;
const LAST_POSITION = 32;
export const FRAME_HEAD_BYTES = 40;
/** Checksum and end mark are the last bytes of the last block: a frame that was cut off anywhere has none. */
const TAIL_BYTES = 8;

/** A group of records that were made durable by one flush. */
export interface FrameHead {
  readonly segment: number;
  /** Number in the segment, from 1. */
  readonly group: number;
  /** Length of the whole frame, in whole blocks. */
  readonly length: number;
  /** Length of the records. */
  readonly contentBytes: number;
  /** Number of entries. */
  readonly count: number;
  /** Positions of the entries; if there are none, the first is one more than the last. */
  readonly firstPosition: number;
  readonly lastPosition: number;
}

/** Length of a frame with so many bytes of records. */
export function frameBytes(contentBytes: number): number {
  return Math.ceil((FRAME_HEAD_BYTES + contentBytes + TAIL_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Writes the frame's bytes around its records, which are in place already. */
export function writeFrame(frame: Buffer, head: FrameHead): void {
  frame.writeUInt32LE(FRAME_MAGIC, MAGIC);
  frame.writeUInt32LE(head.segment, SEGMENT);
  frame.writeUInt32LE(head.group, GROUP);
  frame.writeUInt32LE(head.length, LENGTH);
  frame.writeUInt32LE(head.contentBytes, CONTENT);
  frame.writeUInt32LE(head.count, COUNT);
  frame.writeDoubleLE(head.firstPosition, FIRST_POSITION);
  frame.writeDoubleLE(head.lastPosition, LAST_POSITION);
  frame.fill(0, FRAME_HEAD_BYTES + head.contentBytes, head.length - TAIL_BYTES);
  frame.writeUInt32LE(crc32(frame.subarray(0, head.length - TAIL_BYTES)), head.length - TAIL_BYTES);
  frame.writeUInt32LE(END_MAGIC, head.length - 4);
}

/** The head at `at`, without a check of the frame; null if no frame begins there. */
export function peekFrame(bytes: Buffer, at: number, segment: number): FrameHead | null {
  if (at + BLOCK_BYTES > bytes.length || bytes.readUInt32LE(at + MAGIC) !== FRAME_MAGIC) return null;
  if (bytes.readUInt32LE(at + SEGMENT) !== segment) return null;
  return {
    segment,
    group: bytes.readUInt32LE(at + GROUP),
    length: bytes.readUInt32LE(at + LENGTH),
    contentBytes: bytes.readUInt32LE(at + CONTENT),
    count: bytes.readUInt32LE(at + COUNT),
    firstPosition: bytes.readDoubleLE(at + FIRST_POSITION),
    lastPosition: bytes.readDoubleLE(at + LAST_POSITION),
  };
}

/** A whole frame of the segment with its right checksum, or null. */
export function readFrame(bytes: Buffer, at: number, segment: number): FrameHead | null {
  const head = peekFrame(bytes, at, segment);
  if (head === null || head.length !== frameBytes(head.contentBytes) || at + head.length > bytes.length) return null;
  const tail = at + head.length - TAIL_BYTES;
  if (bytes.readUInt32LE(tail + 4) !== END_MAGIC) return null;
  return bytes.readUInt32LE(tail) === crc32(bytes.subarray(at, tail)) ? head : null;
}
