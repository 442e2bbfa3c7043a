import { ApiError } from '#protocol/errors.ts';
import type { ServerTiming } from '#protocol/server-timing.ts';
import { type SigningKey, signResponse } from '#protocol/signing.ts';

/** Secret and nonce that an authenticated answer is signed with. */
export interface Seal {
  readonly secret: SigningKey;
  readonly nonce: string;
}

/** The one answer to a request, ready for any transport. */
export interface Answer {
  readonly status: number;
  /** Error code; empty for a success. */
  readonly code: string;
  readonly payload: string;
  /** Null for an answer to a request that was not authenticated. */
  readonly sig: string | null;
  /** Null unless the request was refused for a limit. */
  readonly retryAfterSeconds: number | null;
  /** Signed answers only: an unauthenticated caller must not learn timings. */
  readonly timing: ServerTiming | null;
}

export function resultAnswer(seal: Seal, payload: string, timing: ServerTiming): Answer {
  const sig = signResponse(seal.secret, seal.nonce, 200, payload);
  return { status: 200, code: '', payload, sig, retryAfterSeconds: null, timing };
}

/** The only place where an error becomes an answer; unsigned without a seal. */
export function errorAnswer(error: ApiError, seal: Seal | null = null, timing: ServerTiming | null = null): Answer {
  const { code, status, message, index } = error;
  const payload = JSON.stringify({ error: { code, message, index } });
  return {
    ...{ status, code, payload },
    sig: seal === null ? null : signResponse(seal.secret, seal.nonce, status, payload),
    retryAfterSeconds: error instanceof RateLimited ? error.retryAfterSeconds : null,
    timing: seal === null ? null : timing,
  };
}

/** Any thrown value as an error of the table. Details of a fault stay in the log. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('internal_error', 'the service failed; details are in its log', { cause: error });
}

/** 429 with `Retry-After`, as every one carries (contract section 3.6). */
export class RateLimited extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(message: string, waitMs: number) {
    super('rate_limited', message);
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  }
}
