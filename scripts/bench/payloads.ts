import { ENGINE_KINDS, type EngineKind, itemPayload } from './engines/items.ts';

/** Payloads of the measured requests. Tables and rows are those of prepare.ts. */
export const NAMESPACE = 'bench';
/** Rows of `things`, found by key. */
export const THINGS = 100_000;
/** Rows of `events`, scanned whole. */
export const EVENTS = 1_000_000;

/** The namespace that is buffered, with the tables of items.ts. */
export const QUEUED_NAMESPACE = 'queued';

export type LoadKind = 'health' | 'find' | 'insertDurably' | 'insertQueued' | 'scan' | EngineKind;

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
    case 'scan':
      return { path: '/v1/data/count', next: () => scanPayload(count++) };
    default:
      return kind satisfies never;
  }
}

function isEngineKind(kind: LoadKind): kind is EngineKind {
  return ENGINE_KINDS.some((name) => name === kind);
}
