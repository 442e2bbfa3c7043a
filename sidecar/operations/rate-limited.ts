import { ApiError } from '#protocol/errors.ts';

/** 429 with `Retry-After`, as every one carries (contract section 3.6). */
export class RateLimited extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(message: string, waitMs: number) {
    super('rate_limited', message);
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  }
}
