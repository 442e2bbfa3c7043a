import { randomUUID } from 'node:crypto';
import { ENGINE_KINDS, type EngineKind, itemPayload } from './engines/items.ts';
import { nextTransfer, type TransferSpread, transferBatch } from './transfer/transfers.ts';

/** Payloads of the measured requests. Tables and rows are those of prepare.ts. */
export const NAMESPACE = 'bench';
/** Rows of `things`, found by key. */
export const THINGS = 100_000;
/** Rows of `events`, scanned whole. */
export const EVENTS = 1_000_000;

/** Rows of `cold`, a file that is larger than what is read of it; BENCH_COLD_GB makes a trial short. */
export const COLD_ROW_BYTES = 3500;
export const COLD_ROWS = Math.round((Number(process.env.BENCH_COLD_GB ?? '5') * 1e9) / COLD_ROW_BYTES);

/** The namespace that is buffered, with the tables of items.ts. */
export const QUEUED_NAMESPACE = 'queued';

export type LoadKind =
  | 'health'
  | 'find'
  | 'insertDurably'
  | 'insertQueued'
  | 'insertKeyed'
  | 'scan'
  | 'findCold'
  | 'transferUniform'
  | 'transferZipf'
  | EngineKind;

export interface Payloads {
  readonly path: string;
  /** The payload text of the next request. */
  readonly next: () => string;
}

const NOTE = 'x'.repeat(120);

function randomId(): number {
  return 1 + Math.floor(Math.random() * THINGS);
}

/** Matches nothing, on columns without an index. Every other one compares so much that it passes its time. */
function scanPayload(count: number): string {
  const heavy = Array.from({ length: 60 }, (_, index) => ({
    field: 'note',
    op: 'contains',
    value: `nowhere ${index}`,
  }));
  const light = [{ field: 'note', op: 'contains', value: 'nowhere' }];
  return JSON.stringify({ namespace: NAMESPACE, table: 'events', filter: { or: count % 2 === 0 ? heavy : light } });
}

export function createPayloads(kind: LoadKind): Payloads {
  if (isEngineKind(kind)) {
    const { path, next } = itemPayload(kind);
    return { path, next: () => JSON.stringify(next()) };
  }
  let count = 0;
  switch (kind) {
    case 'health':
      return { path: '/v1/health', next: () => '{}' };
    case 'find':
      return {
        path: '/v1/data/find',
        next: () =>
          `{"namespace":"${NAMESPACE}","table":"things","filter":{"field":"id","op":"eq","value":${randomId()}}}`,
      };
    case 'insertDurably':
      return {
        path: '/v1/data/insert',
        next: () => {
          count += 1;
          return `{"namespace":"${NAMESPACE}","table":"inserts","rows":[{"name":"thing ${count}","amount":${count % 1000},"note":"${NOTE}"}]}`;
        },
      };
    case 'insertQueued': {
      const { path, next } = itemPayload('insert');
      return { path, next: () => JSON.stringify({ ...next(), namespace: QUEUED_NAMESPACE }) };
    }
    case 'insertKeyed': {
      const { path, next } = itemPayload('insert');
      return { path, next: () => JSON.stringify({ ...next(), idempotencyKey: randomUUID() }) };
    }
    case 'findCold':
      return {
        path: '/v1/data/find',
        next: () => JSON.stringify({ namespace: NAMESPACE, table: 'cold', filter: coldRow() }),
      };
    case 'transferUniform':
      return transferPayloads('uniform');
    case 'transferZipf':
      return transferPayloads('zipf');
    case 'scan':
      return { path: '/v1/data/count', next: () => scanPayload(count++) };
    default:
      return kind satisfies never;
  }
}

function coldRow(): object {
  return { field: 'id', op: 'eq', value: 1 + Math.floor(Math.random() * COLD_ROWS) };
}

function transferPayloads(spread: TransferSpread): Payloads {
  const next = nextTransfer(spread);
  return { path: '/v1/data/batch', next: () => JSON.stringify(transferBatch(next())) };
}

function isEngineKind(kind: LoadKind): kind is EngineKind {
  return ENGINE_KINDS.some((name) => name === kind);
}
