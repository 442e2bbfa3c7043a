import { ApiError } from './errors.ts';
import { parseJson } from './json-reader.ts';
import { isJsonObject, JsonError, type JsonObject } from './json-value.ts';
import { ENVELOPE_VERSION, MAX_KID_LENGTH, MAX_NONCE_LENGTH } from './limits.ts';

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

/** A body that is a JSON object; its shape is not yet checked. */
export interface RawEnvelope {
  readonly object: JsonObject;
  readonly numberSources: ReadonlyMap<string, string>;
}

export const KID_PATTERN = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_KID_LENGTH}}$`);
/** Visible ASCII: a line feed would let one signature serve a second nonce (contract section 3). */
export const NONCE_PATTERN = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NONCE_LENGTH}}$`);
const INTEGER_TOKEN = /^-?\d+$/;

/** Contract section 3, step 1. Throws 400 `invalid_request`. */
export function parseRawEnvelope(text: string): RawEnvelope {
  const numberSources = new Map<string, string>();
  try {
    const object = parseJson(text, { numberSources });
    if (isJsonObject(object)) return { object, numberSources };
  } catch (error) {
    if (error instanceof JsonError) throw envelopeFault(error.message);
    throw error;
  }
  throw envelopeFault('expected a JSON object');
}

/** Contract section 3, step 3. Throws 400 `invalid_request`, or 413 `payload_too_large`. */
export function checkRequestEnvelope({ object, numberSources }: RawEnvelope, maxPayloadChars: number): RequestEnvelope {
  const { v, kid, ts, nonce, payload, sig } = object;
  if (v !== ENVELOPE_VERSION) throw envelopeFault('v: expected 1');
  if (typeof kid !== 'string' || !KID_PATTERN.test(kid)) {
    throw envelopeFault('kid: expected 1 to 64 letters, digits, dots, underscores and hyphens');
  }
  // A safe integer of any other spelling would be signed in one way and written in another.
  if (!INTEGER_TOKEN.test(numberSources.get('ts') ?? '')) {
    throw envelopeFault('ts: expected an integer without fraction or exponent');
  }
  if (typeof nonce !== 'string' || !NONCE_PATTERN.test(nonce)) {
    throw envelopeFault('nonce: expected 1 to 64 visible ASCII characters');
  }
  if (typeof payload !== 'string') throw envelopeFault('payload: expected a string');
  if (typeof sig !== 'string') throw envelopeFault('sig: expected a string');
  if (payload.length > maxPayloadChars) {
    throw new ApiError('payload_too_large', `payload: expected at most ${maxPayloadChars} characters`);
  }
  if (!payload.isWellFormed()) throw envelopeFault('payload: expected a well-formed string');
  // What no double holds is far outside of any skew, and refused for that.
  const seconds = typeof ts === 'number' ? ts : Number.MAX_VALUE;
  return { v: ENVELOPE_VERSION, kid, ts: seconds, nonce, payload, sig };
}

export function parseRequestEnvelope(text: string, maxPayloadChars: number): RequestEnvelope {
  return checkRequestEnvelope(parseRawEnvelope(text), maxPayloadChars);
}

function envelopeFault(message: string): ApiError {
  return new ApiError('invalid_request', `envelope: ${message}`);
}

export function writeRequestEnvelope(envelope: RequestEnvelope): string {
  return JSON.stringify(envelope);
}

/**
 * The game's side, where time counts: by the native parser, as an answer is believed for its signature and not for its
 * form. Null for whatever is not an envelope.
 */
export function parseResponseEnvelope(text: string): ResponseEnvelope | null {
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
