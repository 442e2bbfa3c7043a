import type { ClusterCalls } from '../../cluster/cluster-calls.ts';
import type { DatabaseFacts, TableSize } from '../../engine.ts';
import { schemaOfText, textOfSchema } from '../../model/schema-text.ts';
import type { QueueCalls, QueueOwner } from '../../queues.ts';
import type { CallBounds } from '../../rows.ts';
import type { SchemaCalls } from '../../schema-calls.ts';
import type { Transfer } from '../../transfer.ts';
import { type Jobs, sentChange } from './jobs.ts';

/** Worker of a job: a reader, on which `quick` jobs take no longer than a find by key, or the writer. */
export type JobLane = 'quick' | 'long' | 'writer';

const LANES: Readonly<Record<keyof Jobs, JobLane>> = {
  readSchema: 'quick',
  checkSchema: 'long',
  applySchema: 'writer',
  listQuarantine: 'long',
  restoreQuarantine: 'writer',
  purgeQuarantine: 'writer',
  readQueue: 'quick',
  listQueues: 'quick',
  claimQueue: 'writer',
  listLetters: 'long',
  countLetters: 'quick',
  lettersToRetry: 'quick',
  wantRetry: 'writer',
  discardLetter: 'writer',
  addLetters: 'writer',
  buryOrphans: 'writer',
  listSidecars: 'quick',
  putSidecar: 'writer',
  dropSidecar: 'writer',
  listLeases: 'quick',
  readLease: 'quick',
  takeLease: 'writer',
  renewLease: 'writer',
  dropLease: 'writer',
  listRevoked: 'quick',
  revokeKey: 'writer',
  claimNonce: 'writer',
  listNamespaces: 'long',
  readMark: 'quick',
  writeMark: 'writer',
  readGenerators: 'long',
  raiseGenerators: 'writer',
  writeQueue: 'writer',
  hasHalfApplied: 'quick',
  listKept: 'long',
  createKept: 'writer',
  version: 'long',
  tableSizes: 'long',
};

/** Runs a job in the worker of its lane. */
export type RunJob = (name: keyof Jobs, args: readonly unknown[], lane: JobLane, deadline: number) => Promise<unknown>;

/** Parts of the engine that a worker answers as jobs. */
export interface WorkerCalls {
  readonly schemas: SchemaCalls;
  readonly queues: Omit<QueueCalls, 'applyQueue'>;
  readonly transfer: Transfer;
  readonly cluster: ClusterCalls;
  inspect(bounds: CallBounds): Promise<DatabaseFacts>;
  tableSizes(namespace: string, tables: readonly string[], bounds: CallBounds): Promise<TableSize[]>;
}

/** Time for visiting the pages of tables. */
const SIZES_MS = 1000;

export function createCalls(runJob: RunJob): WorkerCalls {
  const jobs = jobCalls(runJob);
  return {
    schemas: {
      ...jobs,
      async readSchema(namespace, bounds) {
        const stored = await jobs.readSchema(namespace, bounds);
        return stored === null ? null : { ...stored, schema: schemaOfText(stored.schema) };
      },
      applySchema: (change, bounds) => jobs[change.dryRun ? 'checkSchema' : 'applySchema'](sentChange(change), bounds),
    },
    queues: {
      ...jobs,
      listLetters: (namespace, bounds, limit) => jobs.listLetters(namespace, limit, bounds),
      buryOrphans: (owner, orphans, bounds) => jobs.buryOrphans(bare(owner), orphans, bounds),
    },
    transfer: {
      ...jobs,
      createKept: (kept, shape, bounds) => jobs.createKept(kept, textOfSchema({ tables: [shape] }), bounds),
    },
    cluster: {
      ...jobs,
      dropSidecar: ({ instance, seenAt }, bounds) => jobs.dropSidecar({ instance, seenAt }, bounds),
      dropLease: ({ name, owner }, bounds) => jobs.dropLease({ name, owner }, bounds),
    },
    inspect: async (bounds) => ({ version: `SQLite ${await jobs.version(bounds)}`, time: null }),
    tableSizes(namespace, tables, bounds) {
      const budgetMs = Math.min(SIZES_MS, (bounds.deadline - performance.now()) / 2);
      return jobs.tableSizes(namespace, tables, budgetMs, bounds);
    },
  };
}

function jobCalls(runJob: RunJob): Jobs {
  const names = Object.keys(LANES) as (keyof Jobs)[];
  const calls = names.map((name) => [
    name,
    (...args: readonly unknown[]) => {
      const { deadline } = args.at(-1) as CallBounds;
      return runJob(name, args.slice(0, -1), LANES[name], deadline);
    },
  ]);
  return Object.fromEntries(calls) as Jobs;
}

/** Only the declared properties: an owner object may have methods, which cannot cross the threads. */
function bare({ namespace, journal, token }: QueueOwner): QueueOwner {
  return { namespace, journal, token };
}
