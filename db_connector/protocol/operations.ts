import { LONG_OPERATION_TIMEOUT_MS } from './limits.ts';

/** Row of the operations' table, for both sides. Payloads and results are in `payloads.ts` and `results.ts`. */
export interface Operation {
  /** The route's own constant, which is signed. */
  readonly path: `/v1/${string}`;
  readonly summary: string;
  /** Changes rows: takes `durability` and `idempotencyKey`. */
  readonly isWrite: boolean;
  /** Changes nothing at all: an answer that is lost can be had again. */
  readonly isRead: boolean;
  /** When the connector may send it again: always, or only with an `idempotencyKey` in its payload. */
  readonly retry: 'always' | 'idempotencyKey';
  /** A time limit of its own on both sides; null for that of the configuration. */
  readonly timeoutMs: number | null;
  /** Waits for what other calls do, so that those must always have a place of their own in flight. */
  readonly waitsForOthers: boolean;
  /** Whether its payload must carry a namespace. */
  readonly namespace: boolean;
}

const READ = {
  isWrite: false,
  isRead: true,
  retry: 'always',
  timeoutMs: null,
  waitsForOthers: false,
  namespace: true,
} as const;
const WRITE = {
  isWrite: true,
  isRead: false,
  retry: 'idempotencyKey',
  timeoutMs: null,
  waitsForOthers: false,
  namespace: true,
} as const;

/** Every operation, by the name that a key's permissions and the connector's `Call` use. */
export const OPERATIONS = {
  health: { ...READ, path: '/v1/health', summary: 'Tells whether the service and its database work', namespace: false },
  'schema.sync': {
    ...READ,
    path: '/v1/schema/sync',
    summary: "Makes the declared schema the namespace's whole schema",
    isRead: false,
    timeoutMs: LONG_OPERATION_TIMEOUT_MS,
  },
  'schema.extend': {
    ...READ,
    path: '/v1/schema/extend',
    summary: "Declares one part of the namespace's schema, beside the main part and other parts",
    isRead: false,
    waitsForOthers: true,
    timeoutMs: LONG_OPERATION_TIMEOUT_MS,
  },
  'schema.describe': { ...READ, path: '/v1/schema/describe', summary: 'Answers the stored schema and its hash' },
  insert: { ...WRITE, path: '/v1/data/insert', summary: 'Inserts rows, all or none' },
  find: { ...READ, path: '/v1/data/find', summary: 'Reads a page of rows' },
  update: { ...WRITE, path: '/v1/data/update', summary: 'Sets and adds to columns of the rows that match' },
  upsert: { ...WRITE, path: '/v1/data/upsert', summary: 'Inserts a row, or updates the one with the same keys' },
  // Its second run finds nothing left to delete, so the specification has it retried without a key.
  delete: { ...WRITE, path: '/v1/data/delete', summary: 'Deletes the rows that match', retry: 'always' },
  batch: { ...WRITE, path: '/v1/data/batch', summary: 'Makes several writes, all or nothing or each for itself' },
  count: { ...READ, path: '/v1/data/count', summary: 'Counts the rows that match' },
  aggregate: {
    ...READ,
    path: '/v1/data/aggregate',
    summary: 'Counts, sums, and finds the least and greatest of the rows that match, by groups',
  },
  flush: {
    ...READ,
    path: '/v1/data/flush',
    summary: "Applies the namespace's queued writes and waits",
    isRead: false,
    waitsForOthers: true,
    timeoutMs: LONG_OPERATION_TIMEOUT_MS,
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];
