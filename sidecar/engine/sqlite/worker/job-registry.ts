import { QUEUE_JOBS } from '../queue/jobs.ts';
import { SCHEMA_JOBS } from '../schema/jobs.ts';
import { SIZE_JOBS } from '../table-sizes.ts';
import { TRANSFER_JOBS } from '../transfer-jobs.ts';
import type { JobRegistry } from './jobs.ts';

const DATABASE_JOBS: JobRegistry = {
  'database.version': { on: 'reader', run: ({ db }) => db.prepare('SELECT sqlite_version()').pluck().get() },
};

/** All jobs that a worker knows. */
export const JOBS: JobRegistry = { ...SCHEMA_JOBS, ...QUEUE_JOBS, ...TRANSFER_JOBS, ...SIZE_JOBS, ...DATABASE_JOBS };
