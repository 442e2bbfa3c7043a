import { hash } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Disk, readWhole, writeWhole } from './disk.ts';
import type { KeySlot } from './entries.ts';
import { FORMAT } from './frame.ts';

/** 96 bits of the key, 128 of its fingerprint: no two keys are equal by chance. */
export const KEY_BYTES = 12;
const FINGERPRINT_BYTES = 16;
const FINGERPRINT_AT = KEY_BYTES;
const POSITION_AT = FINGERPRINT_AT + FINGERPRINT_BYTES;
const PENDING_AT = 36;
const EXPIRES_AT = 40;
/** Length of an answer that is not an acknowledgement; the text follows the record. */
const ANSWER_BYTES_AT = 48;
const RECORD_BYTES = 52;

/** The first answer to a key: an acknowledgement by its position, any other answer by its text. */
export interface KeptAnswer {
  readonly position: number;
  readonly pending: number;
  readonly answer: string | null;
}

/** A key as memory and disk store it: 52 bytes, and the text of an answer that cannot be built from numbers. */
export function keyRecord(slot: KeySlot, kept: KeptAnswer): Buffer {
  const answer = kept.answer ?? '';
  const answerBytes = Buffer.byteLength(answer);
  const record = Buffer.allocUnsafe(RECORD_BYTES + answerBytes);
  writeHead(record, slot);
  record.writeDoubleLE(kept.position, POSITION_AT);
  record.writeUInt32LE(kept.pending, PENDING_AT);
  record.writeDoubleLE(slot.expiresAt, EXPIRES_AT);
  record.writeUInt32LE(answerBytes, ANSWER_BYTES_AT);
  record.write(answer, RECORD_BYTES, 'utf8');
  return record;
}

/** Key and fingerprint alone, as at the beginning of a record. */
export function keyHead(slot: KeySlot): Buffer {
  const head = Buffer.allocUnsafe(KEY_BYTES + FINGERPRINT_BYTES);
  writeHead(head, slot);
  return head;
}

/** As text: a digest in a buffer would take three times as long. */
function writeHead(into: Buffer, { kid, namespace, key, fingerprint }: KeySlot): void {
  into.write(hash('sha256', `${kid}\n${namespace}\n${key}`, 'hex'), 0, KEY_BYTES, 'hex');
  const isHash = /^[0-9a-f]{64}$/.test(fingerprint);
  into.write(isHash ? fingerprint : hash('sha256', fingerprint, 'hex'), FINGERPRINT_AT, FINGERPRINT_BYTES, 'hex');
}

export function recordLength(from: Buffer, at: number): number {
  return RECORD_BYTES + from.readUInt32LE(at + ANSWER_BYTES_AT);
}

export function expiryOf(from: Buffer, at: number): number {
  return from.readDoubleLE(at + EXPIRES_AT);
}

export function hasFingerprint(from: Buffer, at: number, head: Buffer): boolean {
  return from.compare(head, FINGERPRINT_AT, POSITION_AT, at + FINGERPRINT_AT, at + POSITION_AT) === 0;
}

export function keptAnswer(from: Buffer, at: number): KeptAnswer {
  const length = recordLength(from, at);
  return {
    position: from.readDoubleLE(at + POSITION_AT),
    pending: from.readUInt32LE(at + PENDING_AT),
    answer: length === RECORD_BYTES ? null : from.toString('utf8', at + RECORD_BYTES, at + length),
  };
}

/** Magic, format, checksum and length of the records behind them. */
const MAGIC = 0x59_45_4b_fa;
const HEAD_BYTES = 16;

function keyFileName(segment: number): string {
  return `keys-${String(segment).padStart(8, '0')}`;
}

export function isKeyFile(name: string): boolean {
  return /^keys-\d{8,}$/.test(name);
}

export interface KeyFile {
  readonly path: string;
  readonly bytes: number;
  /** Expiry of the last key, after which the file is removed. */
  readonly expiresAt: number;
}

/** The keys of one segment, to be stored when the segment is removed. */
export class KeyLog {
  readonly #records: Buffer[] = [];
  #expiresAt = 0;

  /** Expiry of the last key. */
  get expiresAt(): number {
    return this.#expiresAt;
  }

  add(record: Buffer): void {
    this.#records.push(record);
    this.#expiresAt = Math.max(this.#expiresAt, expiryOf(record, 0));
  }

  /** Records that have not expired by `now`. */
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

/** The records in a row; null if the file is damaged. */
export async function readKeyFile(disk: Disk, path: string): Promise<Buffer | null> {
  const bytes = await readWhole(disk, path);
  if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== FORMAT) return null;
  const records = bytes.subarray(HEAD_BYTES);
  return records.length === bytes.readUInt32LE(12) && crc32(records) === bytes.readUInt32LE(8) ? records : null;
}

/** Offset and expiry of each record. */
export function* recordsOf(records: Buffer): Generator<{ at: number; expiry: number }> {
  for (let at = 0; at + RECORD_BYTES <= records.length; at += recordLength(records, at)) {
    yield { at, expiry: expiryOf(records, at) };
  }
}
