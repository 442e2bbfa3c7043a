import { isUtf8 } from 'node:buffer';
import { parseResponseEnvelope } from '../protocol/envelope.ts';
import type { ConnectorErrorCode } from '../protocol/errors.ts';
import { isSameSignature, type SigningKey, signResponse } from '../protocol/signing.ts';
import type { ExchangeEnd } from './exchange.ts';
import { errorResult, type Outcome, type Result } from './outcome.ts';
import { parseRetryAfter } from './retry.ts';

export interface Judgement {
  readonly key: SigningKey;
  /** Nonce of the request that the answer must belong to. */
  readonly nonce: string;
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now: () => number;
}

/** Signed status and payload of an answer, from its envelope or its frame. */
interface Sealed {
  readonly status: number;
  /** Text, or its UTF-8 bytes. */
  readonly payload: string | Buffer;
  readonly sig?: string | null;
}

type Answered = Extract<ExchangeEnd, { kind: 'answer' | 'frame' }>;

/** Outcome of an exchange: contract section 8, the table of answers. Nothing unsigned is believed. */
export function judge(result: ExchangeEnd, { key, nonce, now }: Judgement): Outcome {
  if (result.kind === 'noAnswer') {
    return failed('network', result.reason, { transport: result.hasStalled ? 'nothing' : 'failure', next: 'again' });
  }
  if (result.kind === 'tooLong') {
    return failed('bad_response', 'the answer is longer than maxAnswerBytes');
  }
  const sealed = sealedOf(result);
  if (typeof sealed?.sig !== 'string') {
    return judgeUnsigned(statusOf(result), sealed, retryAfterMsOf(result, now()));
  }
  if (!isSameSignature(sealed.sig, signResponse(key, nonce, sealed.status, sealed.payload))) {
    return failed('bad_signature', 'the answer is not signed with the secret for this request');
  }
  return judgeSigned(statusOf(result), sealed.status, sealed.payload.toString());
}

/** Null if the answer holds no envelope. */
function sealedOf(answered: Answered): Sealed | null {
  if (answered.kind === 'answer') {
    return isUtf8(answered.body) ? parseResponseEnvelope(answered.body.toString()) : null;
  }
  const { status, sig, body } = answered.answer;
  return { status, sig, payload: body };
}

/** HTTP status of the transport; over a stream only the signed status exists. */
function statusOf(answered: Answered): number {
  return answered.kind === 'answer' ? answered.status : answered.answer.status;
}

function retryAfterMsOf(answered: Answered, now: number): number | null {
  if (answered.kind === 'answer') return parseRetryAfter(answered.retryAfter, now);
  const { retryAfterSeconds } = answered.answer;
  return retryAfterSeconds === 0 ? null : retryAfterSeconds * 1000;
}

function judgeSigned(httpStatus: number, status: number, payload: string): Outcome {
  const result =
    httpStatus === status
      ? resultOf(status, payload)
      : errorResult('bad_response', `the HTTP status is ${httpStatus}, the signed one ${status}`);
  const next = isOfThisSidecar(result) ? 'elsewhere' : 'nothing';
  return { result, transport: 'success', next, retryAfterMs: null };
}

/** The sidecar has lost its database or its disk, which another one may have. */
function isOfThisSidecar({ status, code }: Result): boolean {
  return status === 503 || (status === 500 && code === 'database_error');
}

/** Result of the signed status and payload alone. */
function resultOf(status: number, payload: string): Result {
  if (status === 200) {
    return { state: 'ok', status, code: '', json: payload };
  }
  const code = errorCodeOf(payload);
  return code === null
    ? errorResult('bad_response', `the signed answer with status ${status} holds no error`)
    : { state: 'error', status, code, json: payload };
}

function errorCodeOf(payload: string): string | null {
  try {
    const code: unknown = JSON.parse(payload)?.error?.code;
    return typeof code === 'string' && code !== '' ? code : null;
  } catch {
    return null;
  }
}

function judgeUnsigned(status: number, envelope: Sealed | null, retryAfterMs: number | null): Outcome {
  if (status === 502 || status === 503 || status === 504) {
    return failed('network', `status ${status} without signature`, { next: 'again', retryAfterMs });
  }
  if (envelope === null) {
    return failed('bad_response', `status ${status} without an envelope`);
  }
  const transport = status >= 400 && status < 500 ? 'success' : 'failure';
  if (status === 401 && envelope.status === 401) {
    return failed('unauthorized', 'the API did not accept the key', { transport, next: 'setClock' });
  }
  if (status === 429 && envelope.status === 429) {
    return failed('rate_limited', 'the API limits the rate, or has locked this address out', { transport });
  }
  return failed('bad_signature', `status ${status} without signature`, { transport });
}

function failed(
  code: ConnectorErrorCode,
  message: string,
  { transport = 'failure', next = 'nothing', retryAfterMs = null }: Partial<Omit<Outcome, 'result'>> = {},
): Outcome {
  return { result: errorResult(code, message), transport, next, retryAfterMs };
}
