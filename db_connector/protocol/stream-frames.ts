import { isUtf8 } from 'node:buffer';

export const STREAM_PATH = '/v1/stream';
/** WebSocket subprotocol. */
export const STREAM_PROTOCOL = 'db.v1';
/** Both sides ping so often, and end a stream that brings nothing for the second time. */
export const STREAM_PING_MS = 15_000;
export const STREAM_DEAD_MS = 45_000;
/** Calls without an answer that a connector has on one stream. */
export const STREAM_MAX_IN_FLIGHT = 64;
/** A message with more than one frame is at most this long. */
export const STREAM_MESSAGE_BYTES = 1024 * 1024;

/** Close codes (RFC 6455, and 4xxx of our own). */
export const STREAM_CLOSE = {
  goingAway: 1001,
  brokenFrame: 1002,
  messageTooLong: 1009,
  notAuthenticated: 4401,
  slowReader: 4408,
  tooManyFailures: 4429,
} as const;

/** A call on the stream: the same fields, and so the same signature, as the envelope of a POST to `path`. */
export interface CallFrame {
  /** Route of the operation, such as `/v1/data/find`. */
  readonly path: string;
  readonly kid: string;
  /** Unix seconds. */
  readonly ts: number;
  readonly nonce: string;
  /** base64url of the 32 bytes on the wire. */
  readonly sig: string;
  /** Null if its bytes are not UTF-8. */
  readonly payload: string | null;
}

export interface AnswerFrame {
  /** Nonce of the call that is answered. */
  readonly nonce: string;
  /** HTTP status of the same answer to a POST. */
  readonly status: number;
  readonly ok: boolean;
  /** Error code; empty for a success. */
  readonly code: string;
  /** 0 if there is none. */
  readonly retryAfterSeconds: number;
  readonly totalMs: number;
  readonly databaseMs: number;
  /** base64url of the 32 bytes on the wire; null for an answer to a call that was not authenticated. */
  readonly sig: string | null;
  readonly payload: string;
}

/** An answer as it was read: its text is made of bytes once they are believed. */
export interface ReceivedAnswer extends Omit<AnswerFrame, 'payload'> {
  /** UTF-8; part of the message. */
  readonly body: Buffer;
}

/** A message that breaks the format; its stream is closed with 1002. */
export class FrameError extends Error {}

const LENGTH_BYTES = 4;
const SIGNATURE_BYTES = 32;
const CALL_TYPE = 1;
const ANSWER_TYPE = 2;
const OK_FLAG = 1;
const SIGNED_FLAG = 2;
const TIME_BYTES = 8;
/** Type, three lengths of texts, ts, signature. */
const CALL_FIXED_BYTES = 1 + 3 + TIME_BYTES + SIGNATURE_BYTES;
/** Type, two lengths of texts, status, flags, Retry-After, two durations. */
const ANSWER_FIXED_BYTES = 1 + 2 + 2 + 1 + 2 + 4 + 4;
const MAX_RETRY_AFTER_SECONDS = 0xffff;
const MAX_ASCII = 0x7f;

/** Writes a frame (docs/api.md, "The stream"). @throws RangeError for a text of the head over 255 characters */
export function writeCallFrame(call: CallFrame & { readonly payload: string }): Buffer {
  const { path, kid, ts, nonce, sig, payload } = call;
  const payloadBytes = Buffer.byteLength(payload);
  const bytes = CALL_FIXED_BYTES + path.length + kid.length + nonce.length + payloadBytes;
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + bytes);
  let at = frame.writeUInt32BE(bytes, 0);
  at = frame.writeUInt8(CALL_TYPE, at);
  at = writeText(frame, path, at);
  at = writeText(frame, kid, at);
  // A safe integer in two halves: half the cost of a BigInt.
  at = frame.writeUInt32BE(Math.floor(ts / 2 ** 32), at);
  at = frame.writeUInt32BE(ts % 2 ** 32, at);
  at = writeText(frame, nonce, at);
  at += frame.write(sig, at, SIGNATURE_BYTES, 'base64url');
  frame.write(payload, at, payloadBytes, 'utf8');
  return frame;
}

export function writeAnswerFrame(answer: AnswerFrame): Buffer {
  const { nonce, status, ok, code, retryAfterSeconds, totalMs, databaseMs, sig, payload } = answer;
  const payloadBytes = Buffer.byteLength(payload);
  const signatureBytes = sig === null ? 0 : SIGNATURE_BYTES;
  const bytes = ANSWER_FIXED_BYTES + nonce.length + code.length + signatureBytes + payloadBytes;
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + bytes);
  let at = frame.writeUInt32BE(bytes, 0);
  at = frame.writeUInt8(ANSWER_TYPE, at);
  at = writeText(frame, nonce, at);
  at = frame.writeUInt16BE(status, at);
  at = frame.writeUInt8((ok ? OK_FLAG : 0) | (sig === null ? 0 : SIGNED_FLAG), at);
  at = writeText(frame, code, at);
  at = frame.writeUInt16BE(Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS), at);
  at = frame.writeFloatBE(totalMs, at);
  at = frame.writeFloatBE(databaseMs, at);
  if (sig !== null) at += frame.write(sig, at, SIGNATURE_BYTES, 'base64url');
  frame.write(payload, at, payloadBytes, 'utf8');
  return frame;
}

/** Short ASCII; a call of `write` takes longer than the loop. */
function writeText(frame: Buffer, text: string, at: number): number {
  const next = frame.writeUInt8(text.length, at);
  for (let i = 0; i < text.length; i += 1) frame[next + i] = text.charCodeAt(i);
  return next + text.length;
}

/** All calls of a message. @throws FrameError before anything of a broken message is used */
export function readCallFrames(message: Buffer): CallFrame[] {
  return new CallFrames(message).take(Number.POSITIVE_INFINITY, message.length);
}

/**
 * The calls of a message, taken in parts: 8 MiB of the smallest frames are more than one turn of the event loop should read.
 *
 * @throws FrameError before anything of a broken message is used
 */
export class CallFrames {
  readonly #message: Buffer;
  #at = 0;

  constructor(message: Buffer) {
    for (const reader of framesOf(message)) checkCall(reader);
    this.#message = message;
  }

  get leftBytes(): number {
    return this.#message.length - this.#at;
  }

  /** The next calls: at most `count`, and no further one after `bytes`. */
  take(count: number, bytes: number): CallFrame[] {
    const calls: CallFrame[] = [];
    const end = this.#at + bytes;
    while (calls.length < count && this.#at < end && this.leftBytes > 0) {
      const begin = this.#at + LENGTH_BYTES;
      this.#at = begin + this.#message.readUInt32BE(this.#at);
      calls.push(readCall(new FrameReader(this.#message, begin, this.#at)));
    }
    return calls;
  }
}

function readCall(reader: FrameReader): CallFrame {
  reader.type(CALL_TYPE);
  const path = reader.knownText(LAST.path);
  const kid = reader.knownText(LAST.kid);
  const ts = reader.seconds();
  const nonce = reader.text();
  const sig = reader.signature();
  return { path, kid, ts, nonce, sig, payload: reader.bodyText() };
}

/** Nearly all calls have the path and the key of the call before them. */
const LAST = { path: { text: '' }, kid: { text: '' } };

/** The form of each frame, without a copy of anything: 8 MiB of the smallest take a few milliseconds. */
function checkCall(reader: FrameReader): void {
  reader.type(CALL_TYPE);
  reader.skipText();
  reader.skipText();
  reader.skip(TIME_BYTES);
  reader.skipText();
  reader.skip(SIGNATURE_BYTES);
}

/** All answers of a message. @throws FrameError before anything of a broken message is used */
export function readAnswerFrames(message: Buffer): ReceivedAnswer[] {
  return Array.from(framesOf(message), (reader) => {
    reader.type(ANSWER_TYPE);
    const nonce = reader.text();
    const status = reader.unsigned16();
    const flags = reader.flags();
    const code = reader.text();
    const retryAfterSeconds = reader.unsigned16();
    const totalMs = reader.milliseconds();
    const databaseMs = reader.milliseconds();
    const sig = (flags & SIGNED_FLAG) === 0 ? null : reader.signature();
    const body = reader.body();
    if (body === null) throw new FrameError('the payload is not UTF-8');
    return { nonce, status, ok: (flags & OK_FLAG) !== 0, code, retryAfterSeconds, totalMs, databaseMs, sig, body };
  });
}

function* framesOf(message: Buffer): Generator<FrameReader> {
  if (message.length === 0) throw new FrameError('the message holds no frame');
  for (let at = 0; at < message.length; ) {
    const begin = at + LENGTH_BYTES;
    if (begin > message.length) throw new FrameError('bytes are left over');
    const end = begin + message.readUInt32BE(at);
    if (end > message.length) throw new FrameError('a frame is longer than its message');
    yield new FrameReader(message, begin, end);
    at = end;
  }
}

/** The fields of one frame, in order. */
class FrameReader {
  readonly #message: Buffer;
  readonly #end: number;
  #at: number;

  constructor(message: Buffer, begin: number, end: number) {
    this.#message = message;
    this.#at = begin;
    this.#end = end;
  }

  /** Offset of the skipped bytes. */
  skip(bytes: number): number {
    const begin = this.#at;
    this.#at += bytes;
    if (this.#at > this.#end) throw new FrameError('a frame is shorter than its fields');
    return begin;
  }

  type(expected: number): void {
    const type = this.#message[this.skip(1)];
    if (type !== expected) throw new FrameError(`expected a frame of type ${expected}, got ${type}`);
  }

  text(): string {
    const begin = this.skipText();
    return this.#message.toString('latin1', begin, this.#at);
  }

  /** As `text`; that of the last call is compared, which takes less than to make another. */
  knownText(last: { text: string }): string {
    const begin = this.skipText();
    let same = last.text.length === this.#at - begin ? begin : this.#end + 1;
    while (same < this.#at && last.text.charCodeAt(same - begin) === this.#message[same]) same += 1;
    if (same !== this.#at) last.text = this.#message.toString('latin1', begin, this.#at);
    return last.text;
  }

  /** Offset of its first character. */
  skipText(): number {
    const length = this.#message[this.skip(1)] as number;
    const begin = this.skip(length);
    for (let at = begin; at < this.#at; at += 1) {
      if ((this.#message[at] as number) > MAX_ASCII) throw new FrameError('a text of the head is not ASCII');
    }
    return begin;
  }

  /** Not a safe integer, it may lose its last digits: no clock shows such a time. */
  seconds(): number {
    const at = this.skip(TIME_BYTES);
    return this.#message.readUInt32BE(at) * 2 ** 32 + this.#message.readUInt32BE(at + 4);
  }

  unsigned16(): number {
    return this.#message.readUInt16BE(this.skip(2));
  }

  flags(): number {
    const flags = this.#message[this.skip(1)] as number;
    if (flags > (OK_FLAG | SIGNED_FLAG)) throw new FrameError('an unknown flag is set');
    return flags;
  }

  milliseconds(): number {
    const value = this.#message.readFloatBE(this.skip(4));
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) throw new FrameError('a duration is no positive number');
    return value;
  }

  signature(): string {
    const begin = this.skip(SIGNATURE_BYTES);
    return this.#message.toString('base64url', begin, begin + SIGNATURE_BYTES);
  }

  /** The rest of the frame; null if it is not UTF-8. */
  body(): Buffer | null {
    const bytes = this.#message.subarray(this.#at, this.#end);
    return isUtf8(bytes) ? bytes : null;
  }

  /** The same as text. Bytes that are not UTF-8 become U+FFFD, so only a text with one has its bytes looked at. */
  bodyText(): string | null {
    const text = this.#message.toString('utf8', this.#at, this.#end);
    return text.includes('\ufffd') && this.body() === null ? null : text;
  }
}
