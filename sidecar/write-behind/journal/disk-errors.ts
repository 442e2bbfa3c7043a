import { ApiError } from '#protocol/errors.ts';

/** The system's own words for it, without those of the call: `ENOSPC: no space left on device`. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message ?? String(error);
  return message?.startsWith(`${code}: `) ? (message.split(', ')[0] ?? code) : code;
}

export function notAccepted(): ApiError {
  return new ApiError('write_buffer_unavailable', 'the journal cannot be written: the write was not accepted');
}

export function unknownOutcome(): ApiError {
  const message = 'the journal could not be flushed: the outcome of the write is unknown, it may be applied once';
  return new ApiError('write_buffer_unavailable', message);
}
