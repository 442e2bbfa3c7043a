import { crc32 } from 'node:zlib';
import type { JournalEntry, KeySlot } from './entries.ts';

/**
 * A record of a group. `entry`: an acknowledged write. `note`: the answer of a keyed write that ran live, as its payload.
 * `mark`: all of the namespace up to the position is settled.
 */
export const KIND = { entry: 1, note: 2, mark: 3 } as const;
export type RecordKind = (typeof KIND)[keyof typeof KIND];

/** Length of the record and checksum of the rest, then the fixed fields below; the texts are last, in `TEXTS` order. */
const LENGTH = 0;
const CHECKSUM = 4;
const CHECKED_FROM = 8;
const KIND_AT = 8;
const FLAGS = 9;
/** Lengths of namespace, kid, op, key, fingerprint and retryOf, two bytes each. */
const TEXT_LENGTHS = 10;
const TEXTS = 6;
const PAYLOAD_BYTES = 24;
const PENDING = 28;
const POSITION = 32;
const TOKEN = 40;
const TIME = 48;
const EXPIRES_AT = 56;
const FIXED_BYTES = 64;

const HAS_KEY = 1;
const HAS_RETRY = 2;
/** A character of UTF-16 has at most three bytes. */
const BYTES_OF_CHARACTER = 3;

/** The fields of a record that a start needs; the rest is decoded when the entry is applied. */
export interface RecordHead {
  readonly kind: RecordKind;
  readonly length: number;
  readonly position: number;
  readonly token: number;
  readonly time: number;
  readonly pending: number;
  readonly payloadBytes: number;
  readonly namespace: string;
  readonly retryOf: string | null;
}

export interface JournalRecord {
  readonly kind: RecordKind;
  readonly namespace: string;
  readonly position: number;
  readonly kid: string;
  readonly op: string;
  readonly payload: string;
  readonly token: number;
  readonly time: number;
  readonly pending: number;
  readonly key: { readonly key: string; readonly fingerprint: string; readonly expiresAt: number } | null;
  readonly retryOf: string | null;
}

/** Fields of a record that is no entry. */
export const NOTHING = {
  kid: '',
  op: '',
  payload: '',
  position: 0,
  token: 0,
  time: 0,
  pending: 0,
  key: null,
  retryOf: null,
};

/** The record is never longer. */
export function roomOf({ namespace, kid, op, key, retryOf, payload }: JournalRecord): number {
  const keyLength = key === null ? 0 : key.key.length + key.fingerprint.length;
  const characters = namespace.length + kid.length + op.length + keyLength + (retryOf?.length ?? 0);
  return FIXED_BYTES + characters * BYTES_OF_CHARACTER + Buffer.byteLength(payload);
}

/** Writes the record at `at`, and returns its length. */
export function writeRecord(into: Buffer, at: number, fields: JournalRecord): number {
  const { namespace, kid, op, key, retryOf } = fields;
  let end = at + FIXED_BYTES;
  let lengthAt = at + TEXT_LENGTHS;
  for (const text of [namespace, kid, op, key?.key ?? '', key?.fingerprint ?? '', retryOf ?? '']) {
    const bytes = into.write(text, end, 'utf8');
    into.writeUInt16LE(bytes, lengthAt);
    lengthAt += 2;
    end += bytes;
  }
  const payloadBytes = into.write(fields.payload, end, 'utf8');
  end += payloadBytes;

  into.writeUInt32LE(end - at, at + LENGTH);
  into[at + KIND_AT] = fields.kind;
  into[at + FLAGS] = (key === null ? 0 : HAS_KEY) | (retryOf === null ? 0 : HAS_RETRY);
  into.writeUInt16LE(0, lengthAt);
  into.writeUInt32LE(payloadBytes, at + PAYLOAD_BYTES);
  into.writeUInt32LE(fields.pending, at + PENDING);
  into.writeDoubleLE(fields.position, at + POSITION);
  into.writeDoubleLE(fields.token, at + TOKEN);
  into.writeDoubleLE(fields.time, at + TIME);
  into.writeDoubleLE(key?.expiresAt ?? 0, at + EXPIRES_AT);
  into.writeUInt32LE(crc32(into.subarray(at + CHECKED_FROM, end)), at + CHECKSUM);
  return end - at;
}

/** Null if the bytes at `at` are no whole record with its right checksum. */
export function readHead(from: Buffer, at: number): RecordHead | null {
  const length = lengthAt(from, at);
  if (length === null) return null;
  const texts = textsAt(from, at);
  const hasRetry = ((from[at + FLAGS] as number) & HAS_RETRY) !== 0;
  return {
    kind: from[at + KIND_AT] as RecordKind,
    length,
    position: from.readDoubleLE(at + POSITION),
    token: from.readDoubleLE(at + TOKEN),
    time: from.readDoubleLE(at + TIME),
    pending: from.readUInt32LE(at + PENDING),
    payloadBytes: from.readUInt32LE(at + PAYLOAD_BYTES),
    namespace: texts(0),
    retryOf: hasRetry ? texts(5) : null,
  };
}

/** The key of an entry or a note; null if it has none. */
export function readKey(from: Buffer, at: number): KeySlot | null {
  if (((from[at + FLAGS] as number) & HAS_KEY) === 0) return null;
  const texts = textsAt(from, at);
  return {
    namespace: texts(0),
    kid: texts(1),
    key: texts(3),
    fingerprint: texts(4),
    expiresAt: from.readDoubleLE(at + EXPIRES_AT),
  };
}

/** Length of the payload of the record at `at`. */
export function payloadBytesAt(from: Buffer, at: number): number {
  return from.readUInt32LE(at + PAYLOAD_BYTES);
}

export function readPayload(from: Buffer, at: number, length: number): string {
  return from.toString('utf8', at + length - from.readUInt32LE(at + PAYLOAD_BYTES), at + length);
}

/** Null if the bytes are no whole entry. */
export function readEntry(from: Buffer, at: number): Omit<JournalEntry, 'id'> | null {
  const head = readHead(from, at);
  if (head === null || head.kind !== KIND.entry) return null;
  const texts = textsAt(from, at);
  const { namespace, token, time, pending, retryOf, position } = head;
  const key = readKey(from, at);
  return {
    position,
    namespace,
    token,
    kid: texts(1),
    op: texts(2),
    payload: readPayload(from, at, head.length),
    time,
    pending,
    key: key === null ? null : { key: key.key, fingerprint: key.fingerprint, expiresAt: key.expiresAt },
    retryOf,
  };
}

function lengthAt(from: Buffer, at: number): number | null {
  if (at + FIXED_BYTES > from.length) return null;
  const length = from.readUInt32LE(at + LENGTH);
  if (length < FIXED_BYTES || at + length > from.length) return null;
  const isWhole = from.readUInt32LE(at + CHECKSUM) === crc32(from.subarray(at + CHECKED_FROM, at + length));
  return isWhole ? length : null;
}

/** Returns a reader of the text at an index among `TEXTS`. */
function textsAt(from: Buffer, at: number): (index: number) => string {
  return (index) => {
    let begin = at + FIXED_BYTES;
    for (let before = 0; before < Math.min(index, TEXTS); before += 1) {
      begin += from.readUInt16LE(at + TEXT_LENGTHS + before * 2);
    }
    return from.toString('utf8', begin, begin + from.readUInt16LE(at + TEXT_LENGTHS + index * 2));
  };
}
