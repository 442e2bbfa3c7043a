import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Disk, type DiskFile, readAt, writeAll } from './disk.ts';
import { BLOCK_BYTES, FORMAT } from './frame.ts';
import { KeyLog } from './key-record.ts';

const ZEROS = Buffer.alloc(256 * 1024);

/** Whether the bytes, at most a block of a segment, are all zero. */
export function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}

/** A file of the journal. */
export class Segment {
  readonly number: number;
  readonly path: string;
  /** Size of the file. */
  readonly bytes: number;
  /** End of its durable groups; 0 before it has a header. */
  end = 0;
  groups = 0;
  /** Entries that are not settled. */
  unsettled = 0;
  /** Nothing behind `end` counts; `end` is durable in the next segment or the state. */
  isSealed = false;
  /** All entries are settled, and the state does not name the segment any more. */
  isGoing = false;
  /** Bytes of acknowledged groups that cannot be read: the file is kept when its entries are settled. */
  lostBytes = 0;
  readonly keys = new KeyLog();
  /** Open for writing; null if it is not the newest segment. */
  file: DiskFile | null;
  #reader: Promise<DiskFile> | null = null;

  constructor(folder: string, number: number, bytes: number, file: DiskFile | null) {
    this.number = number;
    this.path = join(folder, segmentName(number));
    this.bytes = bytes;
    this.file = file;
  }

  /** Reads a range of the file, which stays open for the next one. */
  async read(disk: Disk, from: number, to: number): Promise<Buffer> {
    const reader = this.#reader ?? disk.open(this.path, 'read');
    this.#reader = reader;
    reader.catch(() => {
      this.#reader = null;
    });
    return await readAt(await reader, from, to - from);
  }

  async closeReader(): Promise<void> {
    const reader = this.#reader;
    this.#reader = null;
    await reader?.then((file) => file.close()).catch(() => {});
  }

  /** Ends writing. A file that cannot be closed counts as closed. */
  async closeFile(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close().catch(() => {});
  }
}

/** Makes a file of zeros, durable with its name, so that a later flush writes only the data. */
export async function prepareSegment(disk: Disk, folder: string, number: number, bytes: number): Promise<Segment> {
  const path = join(folder, segmentName(number));
  const file = await disk.open(path, 'create');
  try {
    for (let at = 0; at < bytes; at += ZEROS.length) {
      await writeAll(file, ZEROS.subarray(0, Math.min(ZEROS.length, bytes - at)), at);
    }
    await file.flush();
    await disk.flushFolder(folder);
    return new Segment(folder, number, bytes, file);
  } catch (error) {
    await file.close().catch(() => {});
    // On a full disk a partial file would take space that other files need.
    await disk.remove(path).catch(() => {});
    throw error;
  }
}

const MAGIC = Buffer.from([0xfa, 0x57, 0x42, 0x4a, 0x52, 0x4e, 0x4c, 0x0a]);
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
  /** The segment before it, 0 for none, and the end of its acknowledged groups: nothing behind that counts. */
  readonly previous: number;
  readonly previousEnd: number;
  /** The file is never shorter. */
  readonly fileBytes: number;
  /** No position in it is smaller. */
  readonly firstPosition: number;
}

/** `empty`: made ahead and never used. `newer`: written by a newer program. */
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
  // A process may have died while it made the file: then the file is short, and the segment before it is the newest.
  if (isZero(block)) return 'empty';
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
