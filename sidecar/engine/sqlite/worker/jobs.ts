import type { Database } from 'better-sqlite3';

/**
 * Work of more than one statement that runs inside a worker with the raw connection.
 *
 * A job is a row of a registry, and `job-registry.ts` merges the registries. One that says `on: 'writer'` runs on the
 * writer alone, outside any group of writes and outside any transaction: it opens its own (`BEGIN IMMEDIATE` … `COMMIT`)
 * where it needs one, and leaves none open. One that says `on: 'reader'` may only read.
 *
 * Input and output cross a thread as a structured clone: prototypes and classes are lost (`JsonNumber`, objects without
 * prototype), so schemas travel as JSON text. A job throws `ApiError` or `StaleSchemaError`, which reach the caller as
 * such; anything of SQLite is mapped to `database_error`, `database_timeout` or `constraint_violation`, and logged.
 *
 * On the API's thread `schema-calls.ts` and `transfer-calls.ts` make the parts of `Engine` that are made of jobs.
 */
export interface JobContext {
  readonly db: Database;
  /**
   * Throws `database_timeout` when the job's deadline has passed. In SQL the function `guard()` does the same and
   * returns 1: put it first in `WHERE` of whatever may visit many rows.
   */
  checkDeadline(): void;
}

export interface Job {
  readonly on: 'writer' | 'reader';
  run(context: JobContext, input: unknown): unknown;
}

export type JobRegistry = Readonly<Record<string, Job>>;

/** Runs a job in its worker. `deadline` as in `CallBounds`. */
export type RunJob = (name: string, input: unknown, bounds: { readonly deadline: number }) => Promise<unknown>;
