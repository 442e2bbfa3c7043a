import { ApiError } from '../../../db_connector/protocol/errors.ts';

/** The system's own word for it: ENOSPC, EIO. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message ?? String(error);
}

export function notAccepted(): ApiError {
  return new ApiError('write_buffer_unavailable', 'the journal cannot be written: the write was not accepted');
}

export function unknownOutcome(): ApiError {
  const message = 'the journal could not be flushed: the outcome of the write is unknown, it may be applied once';
  return new ApiError('write_buffer_unavailable', message);
}
