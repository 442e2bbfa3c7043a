import { isUtf8 } from 'node:buffer';
import { Decoder, Encoder } from '@msgpack/msgpack';

/** How a host carries bytes: what arrives as bytes, and what leaves as bytes. */
export interface ByteForm {
  /** null if the value is no bytes. */
  read(value: unknown): Uint8Array | null;
  write(bytes: Uint8Array): unknown;
  /** A list of texts passes through exports without a copy of its texts. */
  readonly sharesTexts?: boolean;
  /** Explains bytes that the host cannot carry, in words; null if the value is something else. */
  explain?(value: unknown): string | null;
}

/** A question that was read: its texts, and how to answer it in its own form. */
export interface Question {
  /** The fields asked for, in order; null if the record cannot be read. */
  readonly texts: readonly string[] | null;
  /** The question was longer than any that can be accepted, and was not read. */
  readonly isTooLong: boolean;
  /** Why the record cannot be read, where more is known than that. */
  readonly problem?: string | undefined;
  /** @param record in the order of its fields */
  reply(record: Readonly<Record<string, unknown>>): unknown;
}

/** Three bytes a UTF-16 code unit at most, and room for the operation and the frame. */
const MAX_QUESTION_BYTES = 3_000_000 + 65_536;
/** Bytes of a list of records. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** Records have few fields; more would only cost memory. Texts stay bytes, since the decoder would replace broken characters. */
const decoder = new Decoder({ maxArrayLength: 16, maxMapLength: 16, maxExtLength: 256, rawStrings: true });
const listDecoder = new Decoder({ maxArrayLength: 512, maxMapLength: 16, maxExtLength: 256, rawStrings: true });
const encoder = new Encoder();

/** Records of one `CallMany` or `TakeMany`. */
export const MAX_RECORDS = 512;

/** A list of records that was read, and how to answer it in its own form. */
export interface Questions {
  /** Null for nil; undefined if the value is no list of at most `MAX_RECORDS`. */
  readonly records: readonly unknown[] | null | undefined;
  /** @param record one of `records`; its texts stay bytes if the list came as bytes */
  read(record: unknown, fields: readonly string[]): Omit<Question, 'reply'>;
  /** @param replies a record for each of `records`, in the order of its fields */
  reply(replies: readonly object[]): unknown;
}

/** Reads a list of records, or nil, as MessagePack bytes or plain. Never throws. */
export function readQuestions(value: unknown, bytes: ByteForm): Questions {
  try {
    const raw = bytes.read(value);
    if (raw === null) return questionsOf(value ?? null, plainText, (replies) => replies);
    return questionsOf(unpackList(raw), packedText, (replies) => bytes.write(encoder.encode(replies)));
  } catch {
    return questionsOf(undefined, plainText, (replies) => replies);
  }
}

function questionsOf(
  list: unknown,
  readText: (value: unknown) => string | null,
  write: (replies: readonly unknown[]) => unknown,
): Questions {
  const records = Array.isArray(list) && list.length <= MAX_RECORDS ? list : list === null ? null : undefined;
  return {
    records,
    read: (record, fields) => ({ texts: textsOf(record, fields, readText), isTooLong: false }),
    reply: (replies) =>
      write(replies.map((reply, index) => (Array.isArray(records?.[index]) ? Object.values(reply) : reply))),
  };
}

function unpackList(raw: Uint8Array): unknown {
  if (raw.length > MAX_LIST_BYTES) return undefined;
  try {
    return listDecoder.decode(raw);
  } catch {
    return undefined;
  }
}

/** Reads a record by name or by position, as MessagePack bytes or plain (contract section 8). Never throws. */
export function readQuestion(value: unknown, fields: readonly string[], bytes: ByteForm): Question {
  try {
    const raw = bytes.read(value);
    if (raw === null) {
      const texts = textsOf(value, fields, plainText);
      const problem = texts === null ? (bytes.explain?.(value) ?? undefined) : undefined;
      return { texts, isTooLong: false, problem, reply: replyPlain(value) };
    }
    return readPacked(raw, fields, bytes);
  } catch {
    return { texts: null, isTooLong: false, reply: replyPlain(undefined) };
  }
}

function readPacked(raw: Uint8Array, fields: readonly string[], bytes: ByteForm): Question {
  let record: unknown;
  const isTooLong = raw.length > MAX_QUESTION_BYTES;
  try {
    record = isTooLong ? undefined : decoder.decode(raw);
  } catch {
    record = undefined;
  }
  const pack = isPackedArray(raw) ? (reply: object) => Object.values(reply) : (reply: object) => reply;
  return {
    texts: textsOf(record, fields, packedText),
    isTooLong,
    reply: (reply) => bytes.write(encoder.encode(pack(reply))),
  };
}

/** By its first byte, so that what cannot be read is still answered in its own form. */
function isPackedArray(raw: Uint8Array): boolean {
  const first = raw[0] ?? 0;
  return first >> 4 === 0x9 || first === 0xdc || first === 0xdd;
}

function replyPlain(question: unknown): Question['reply'] {
  const isList = Array.isArray(question);
  return (record) => (isList ? Object.values(record) : record);
}

function textsOf(record: unknown, fields: readonly string[], read: (value: unknown) => string | null): string[] | null {
  if (typeof record !== 'object' || record === null) {
    return null;
  }
  const texts: string[] = [];
  const isList = Array.isArray(record);
  for (let index = 0; index < fields.length; index += 1) {
    const key = isList ? index : (fields[index] as string);
    const text = Object.hasOwn(record, key) ? read(Reflect.get(record, key)) : null;
    if (text === null) {
      return null;
    }
    texts.push(text);
  }
  return texts;
}

function plainText(value: unknown): string | null {
  return typeof value === 'string' && value.isWellFormed() ? value : null;
}

function packedText(value: unknown): string | null {
  if (!(value instanceof Uint8Array) || !isUtf8(value)) {
    return null;
  }
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
}
