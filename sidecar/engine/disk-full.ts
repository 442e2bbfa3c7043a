import { ApiError } from '#protocol/errors.ts';
import { DETAILS_IN_LOG } from './log.ts';

/** The disk of the database is full: a repetition fails too until there is room. The message names no folder to callers. */
export class DiskFullError extends ApiError {
  /** File of SQLite on this machine; null for the disk of a database server. */
  readonly file: string | null;

  constructor(file: string | null) {
    super('database_error', `the database failed: its disk is full${DETAILS_IN_LOG}`);
    this.file = file;
  }
}
