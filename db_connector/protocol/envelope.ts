import { fittingString, readMembers, stringOf, type Token } from './envelope-reader.ts';
import { ApiError } from './errors.ts';
import { exactNumber, isJsonObject, JsonError } from './json-value.ts';
import { ENVELOPE_VERSION, MAX_ENVELOPE_CHARS, MAX_KID_LENGTH, MAX_NONCE_LENGTH } from './limits.ts';

/** The body of every POST. */
export interface RequestEnvelope {
  readonly v: 1;
  readonly kid: string;
  /** Unix seconds. */
  readonly ts: number;
  readonly nonce: string;
  /** The operation's JSON text, signed as it is. */
  readonly payload: string;
  readonly sig: string;
}

export interface ResponseEnvelope {
  readonly v: 1;
  readonly ok: boolean;
  readonly status: number;
  readonly payload: string;
  /** Absent on answers to requests that were not authenticated. */
  readonly sig?: string;
  readonly code?: string;
}

export const KID_PATTERN = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_KID_LENGTH}}$`);
/** Visible ASCII: a line feed would let one signature serve a second nonce (contract section 3). */
export const NONCE_PATTERN = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NONCE_LENGTH}}$`);
const INSTANCE_LENGTH = 16;
const INSTANCE_PATTERN = new RegExp(`^[a-z2-7]{${INSTANCE_LENGTH}}$`);
/** Id of a sidecar, a full stop, and the random part: good at this sidecar alone. */
const NAMED_NONCE = new RegExp(`^([a-z2-7]{${INSTANCE_LENGTH}})\\..`);
const INTEGER_TOKEN = /^-?\d+$/;

/** Id of the sidecar that a nonce is for; null if it names none. */
export function instanceOfNonce(nonce: string): string | null {
  // The full stop is looked at first: most nonces have none there.
  return nonce[INSTANCE_LENGTH] === '.' ? (NAMED_NONCE.exec(nonce)?.[1] ?? null) : null;
}

/** @param instance id of the sidecar that the nonce is good for */
export function nonceFor(instance: string, random: string): string {
  return `${instance}.${random}`;
}

/** Whether a text is the id of a sidecar. */
export function isInstance(text: unknown): text is string {
  return typeof text === 'string' && INSTANCE_PATTERN.test(text);
}

/**
 * The envelope of a body (contract section 3, steps 2 and 3). Throws 400 `invalid_request`, or 413 `payload_too_large`.
 * The sender is not authenticated: besides the payload, within its limit, little is read and nothing is built.
 */
export function parseRequestEnvelope(text: string, maxPayloadChars: number): RequestEnvelope {
  const members = membersOf(text, maxPayloadChars);
  if (!isVersion(members.get('v'))) throw envelopeFault('v: expected 1');
  const kid = fittingString(members.get('kid'), KID_PATTERN);
  if (kid === null) throw wrongKid();
  // A safe integer of any other spelling would be signed in one way and written in another.
  const ts = members.get('ts');
  if (ts?.kind !== 'number' || !INTEGER_TOKEN.test(ts.source)) {
    throw envelopeFault('ts: expected an integer without fraction or exponent');
  }
  const nonce = fittingString(members.get('nonce'), NONCE_PATTERN);
  if (nonce === null) throw wrongNonce();
  const written = members.get('payload');
  if (written?.kind !== 'string') throw envelopeFault('payload: expected a string');
  const sig = members.get('sig');
  if (sig?.kind !== 'string') throw envelopeFault('sig: expected a string');
  const payload = stringOf(written);
  if (!payload.isWellFormed()) throw envelopeFault('payload: expected a well-formed string');
  const seconds = Number(ts.source);
  return {
    v: ENVELOPE_VERSION,
    kid,
    ts: seconds === 0 ? 0 : seconds,
    nonce,
    payload,
    sig: stringOf(sig),
  };
}

/** The same rules for an envelope whose fields came without JSON. Throws as `parseRequestEnvelope` does. */
export function checkRequestEnvelope(envelope: RequestEnvelope, maxPayloadChars: number): RequestEnvelope {
  const { kid, nonce, payload } = envelope;
  if (!KID_PATTERN.test(kid)) throw wrongKid();
  if (!NONCE_PATTERN.test(nonce)) throw wrongNonce();
  if (payload.length > maxPayloadChars) {
    throw new ApiError('payload_too_large', `payload: expected at most ${maxPayloadChars} characters`);
  }
  return envelope;
}

function wrongKid(): ApiError {
  return envelopeFault('kid: expected 1 to 64 letters, digits, dots, underscores and hyphens');
}

function wrongNonce(): ApiError {
  return envelopeFault('nonce: expected 1 to 64 visible ASCII characters');
}

function membersOf(text: string, maxPayloadChars: number): ReadonlyMap<string, Token> {
  try {
    const members = readMembers(text, maxPayloadChars);
    if (members !== null) return members;
  } catch (error) {
    if (error instanceof JsonError) throw envelopeFault(error.message);
    throw error;
  }
  throw envelopeFault('expected a JSON object');
}

/** By value, as numbers count: `1.0` is 1. */
function isVersion(token: Token | undefined): boolean {
  return token?.kind === 'number' && exactNumber(token.source) === ENVELOPE_VERSION;
}

function envelopeFault(message: string): ApiError {
  return new ApiError('invalid_request', `envelope: ${message}`);
}

export function writeRequestEnvelope(envelope: RequestEnvelope): string {
  return JSON.stringify(envelope);
}

/** An envelope as `writeResponseEnvelope` writes it, around the literal of its payload. */
const LONG_HEAD = /^\{"v":1,"ok":(true|false),"status":(\d{1,9}),(?:"code":"([a-z_]{1,64})",)?"payload":(?=")/;
const LONG_TAIL = /"(?:,"sig":"([A-Za-z0-9_-]{1,64})")?\}$/;
const LONG_TAIL_CHARS = 128;

/**
 * The game's side, where time counts: by the native parser, as an answer is believed for its signature and not for its
 * form. A long answer must have the sidecar's own form: nested values beside the payload cost many times their length before
 * anything is authenticated. Null for a text that is no envelope.
 */
export function parseResponseEnvelope(text: string): ResponseEnvelope | null {
  return text.length > MAX_ENVELOPE_CHARS ? parseLongEnvelope(text) : parseShortEnvelope(text);
}

function parseLongEnvelope(text: string): ResponseEnvelope | null {
  const head = LONG_HEAD.exec(text);
  const tail = LONG_TAIL.exec(text.slice(-LONG_TAIL_CHARS));
  if (head === null || tail === null) return null;
  const [, ok, status, code] = head;
  const [{ length }, sig] = tail;
  let payload: unknown;
  try {
    // A quote inside of the literal would end it: then it is no JSON.
    payload = JSON.parse(text.slice(head[0].length, text.length - length + 1));
  } catch {
    return null;
  }
  if (typeof payload !== 'string') return null;
  return {
    ...{ v: ENVELOPE_VERSION, ok: ok === 'true', status: Number(status), payload },
    ...(sig === undefined ? {} : { sig }),
    ...(code === undefined ? {} : { code }),
  };
}

function parseShortEnvelope(text: string): ResponseEnvelope | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  const { v, ok, status, payload, sig, code } = value;
  if (v !== ENVELOPE_VERSION || typeof ok !== 'boolean' || typeof payload !== 'string') return null;
  if (typeof status !== 'number' || !Number.isInteger(status)) return null;
  if (sig !== undefined && typeof sig !== 'string') return null;
  if (code !== undefined && typeof code !== 'string') return null;
  return { v, ok, status, payload, ...(sig === undefined ? {} : { sig }), ...(code === undefined ? {} : { code }) };
}

export function writeResponseEnvelope(envelope: ResponseEnvelope): string {
  return JSON.stringify(envelope);
}
