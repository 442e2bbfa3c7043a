import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Disk } from './disk.ts';
import { expiryOf, RECORD_BYTES, recordLength } from './key-record.ts';
import { FORMAT } from './segment-header.ts';
import { readWhole, writeWhole } from './whole-file.ts';

/** Magic, format, checksum and length of the records behind them. */
const MAGIC = 0x59_45_4b_fa;
const HEAD_BYTES = 16;

export function keyFileName(segment: number): string {
  return `keys-${String(segment).padStart(8, '0')}`;
}

export function isKeyFile(name: string): boolean {
  return /^keys-\d{8,}$/.test(name);
}

export interface KeyFile {
  readonly path: string;
  readonly bytes: number;
  /** When its last key expires, and it goes. */
  readonly expiresAt: number;
}

/** The keys of a segment that goes. */
export class KeyLog {
  readonly #records: Buffer[] = [];
  #expiresAt = 0;

  /** When the last one expires. */
  get expiresAt(): number {
    return this.#expiresAt;
  }

  add(record: Buffer): void {
    this.#records.push(record);
    this.#expiresAt = Math.max(this.#expiresAt, expiryOf(record, 0));
  }

  /** Those that have not expired by `now`. */
  bytes(now: number): Buffer {
    return Buffer.concat(this.#records.filter((record) => expiryOf(record, 0) > now));
  }
}

export async function writeKeyFile(disk: Disk, folder: string, segment: number, records: Buffer): Promise<string> {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(FORMAT, 4);
  head.writeUInt32LE(crc32(records), 8);
  head.writeUInt32LE(records.length, 12);
  const path = join(folder, keyFileName(segment));
  await writeWhole(disk, path, Buffer.concat([head, records]));
  return path;
}

/** The records one after another, null where the file is damaged. */
export async function readKeyFile(disk: Disk, path: string): Promise<Buffer | null> {
  const bytes = await readWhole(disk, path);
  if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== FORMAT) return null;
  const records = bytes.subarray(HEAD_BYTES);
  return records.length === bytes.readUInt32LE(12) && crc32(records) === bytes.readUInt32LE(8) ? records : null;
}

/** Where each of the records begins, and when it expires. */
export function* recordsOf(records: Buffer): Generator<{ at: number; expiry: number }> {
  for (let at = 0; at + RECORD_BYTES <= records.length; at += recordLength(records, at)) {
    yield { at, expiry: expiryOf(records, at) };
  }
}
