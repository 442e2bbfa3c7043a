import type { JobRegistry } from './jobs.ts';
import { QUEUE_JOBS } from './queue-jobs.ts';
import { SCHEMA_JOBS } from './schema-jobs.ts';
import { TRANSFER_JOBS } from './transfer-jobs.ts';

/** All jobs that a worker knows. */
export const JOBS: JobRegistry = { ...SCHEMA_JOBS, ...QUEUE_JOBS, ...TRANSFER_JOBS };
