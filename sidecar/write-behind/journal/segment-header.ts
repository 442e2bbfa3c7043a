import { crc32 } from 'node:zlib';
import { BLOCK_BYTES } from './frame.ts';

const MAGIC = Buffer.from([0xfa, 0x57, 0x42, 0x4a, 0x52, 0x4e, 0x4c, 0x0a]);
export const FORMAT = 1;
const FORMAT_AT = 8;
const NUMBER = 12;
const PREVIOUS = 16;
const PREVIOUS_END = 24;
const FILE_BYTES = 32;
const FIRST_POSITION = 40;
const JOURNAL = 48;
const JOURNAL_BYTES = 16;
const CHECKSUM = BLOCK_BYTES - 4;

/** The first block of a segment. */
export interface SegmentHeader {
  readonly journal: string;
  readonly number: number;
  /** The segment before it, 0 for none, and where its acknowledged groups end: nothing behind that counts. */
  readonly previous: number;
  readonly previousEnd: number;
  /** The file is never shorter. */
  readonly fileBytes: number;
  /** No position in it is smaller. */
  readonly firstPosition: number;
}

/** `empty`: made ahead, and never used. `newer`: of a program that came after this one. */
export type HeaderFound = SegmentHeader | 'empty' | 'damaged' | 'newer';

export function segmentName(number: number): string {
  return `${String(number).padStart(8, '0')}.log`;
}

/** Null for the name of another file. */
export function segmentNumber(name: string): number | null {
  return /^\d{8,}\.log$/.test(name) ? Number.parseInt(name, 10) : null;
}

export function writeHeader(into: Buffer, header: SegmentHeader): void {
  into.fill(0, 0, BLOCK_BYTES);
  MAGIC.copy(into);
  into.writeUInt32LE(FORMAT, FORMAT_AT);
  into.writeUInt32LE(header.number, NUMBER);
  into.writeUInt32LE(header.previous, PREVIOUS);
  into.writeDoubleLE(header.previousEnd, PREVIOUS_END);
  into.writeDoubleLE(header.fileBytes, FILE_BYTES);
  into.writeDoubleLE(header.firstPosition, FIRST_POSITION);
  into.write(header.journal, JOURNAL, JOURNAL_BYTES, 'latin1');
  into.writeUInt32LE(crc32(into.subarray(0, CHECKSUM)), CHECKSUM);
}

export function readHeader(bytes: Buffer): HeaderFound {
  const block = bytes.subarray(0, BLOCK_BYTES);
  // A process may have died while it made the file: then it is short, and the one before it the newest.
  if (block.every((byte) => byte === 0)) return 'empty';
  if (block.length < BLOCK_BYTES) return 'damaged';
  const isOurs = block.subarray(0, MAGIC.length).equals(MAGIC);
  if (!isOurs || block.readUInt32LE(CHECKSUM) !== crc32(block.subarray(0, CHECKSUM))) return 'damaged';
  if (block.readUInt32LE(FORMAT_AT) > FORMAT) return 'newer';
  return {
    journal: block.toString('latin1', JOURNAL, JOURNAL + JOURNAL_BYTES).replace(/\0+$/, ''),
    number: block.readUInt32LE(NUMBER),
    previous: block.readUInt32LE(PREVIOUS),
    previousEnd: block.readDoubleLE(PREVIOUS_END),
    fileBytes: block.readDoubleLE(FILE_BYTES),
    firstPosition: block.readDoubleLE(FIRST_POSITION),
  };
}
