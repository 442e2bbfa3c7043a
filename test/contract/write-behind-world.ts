import { afterEach } from 'vitest';
import { type ConfigChanges, type SidecarOptions, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import type { SignedClient } from '../support/signed-client.ts';

/** Nothing is applied before somebody asks for it. */
export const LATER = { flushIntervalMs: 3_600_000, flushAtPending: 1_000_000 };

/** `writeBehind` of sidecar.json with these namespaces. */
export function buffered(names: readonly string[], more: object = LATER): ConfigChanges {
  const namespaces = Object.fromEntries(names.map((name) => [name, { consistentReads: true }]));
  return { writeBehind: { namespaces, ...more } };
}

/** Reads of the namespace see what is in the database, whatever waits. */
export const PLAIN_READS = { consistentReads: false };

export const SCORES = {
  name: 'scores',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'points', type: 'int64', default: 0 },
    { name: 'label', type: 'string', length: 20, unique: true, nullable: true },
  ],
};

export interface Health {
  readonly status: string;
  readonly database: boolean;
  readonly writeBuffer?: {
    readonly enabled: boolean;
    readonly pending: number;
    readonly oldestAgeSeconds: number;
    readonly halted: boolean;
    readonly deadLetters: number;
    readonly available: boolean;
  };
}

export async function healthOf(client: SignedClient): Promise<Health> {
  return client.must<Health>('health');
}

export async function pendingOf(client: SignedClient): Promise<number | undefined> {
  return (await healthOf(client)).writeBuffer?.pending;
}

export async function metric(client: SignedClient, name: string): Promise<number> {
  const { body } = await client.get('/metrics');
  const line = body.split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

/** Table `scores` of a namespace. */
export class Scores {
  readonly client: SignedClient;
  readonly namespace: string;

  constructor(client: SignedClient, namespace: string) {
    this.client = client;
    this.namespace = namespace;
  }

  declare(...more: object[]): Promise<Record<string, unknown>> {
    const columns = [...SCORES.columns, ...more];
    return this.client.must('schema.sync', { namespace: this.namespace, schema: { tables: [{ ...SCORES, columns }] } });
  }

  call(operation: string, payload: object) {
    return this.client.call(operation, { namespace: this.namespace, table: 'scores', ...payload });
  }

  insert(id: number, more: object = {}) {
    return this.call('insert', { rows: [{ id }], ...more });
  }

  add(id: number, points: number, more: object = {}) {
    return this.call('update', { filter: { field: 'id', op: 'eq', value: id }, inc: { points }, ...more });
  }

  set(id: number, points: number, more: object = {}) {
    return this.call('update', { filter: { field: 'id', op: 'eq', value: id }, set: { points }, ...more });
  }

  flush(): Promise<Record<string, unknown>> {
    return this.client.must('flush', { namespace: this.namespace });
  }

  /** `[id, points]` of each row, by id. */
  async points(): Promise<[number, number][]> {
    const find = { namespace: this.namespace, table: 'scores', fields: ['id', 'points'] };
    const { rows } = await this.client.must<{ rows: { id: number; points: number }[] }>('find', find);
    return rows.map(({ id, points }) => [id, points]);
  }
}

/** Sidecars of single tests; what a test has not stopped itself is stopped after it. */
export function sidecarsOfTest(): (options: SidecarOptions) => Promise<TestSidecar> {
  const running = new Set<TestSidecar>();
  afterEach(async () => {
    for (const sidecar of running) await sidecar.stop();
    running.clear();
  });
  return async (options) => {
    const sidecar = await startSidecar(options);
    const tracked = {
      ...sidecar,
      async stop() {
        if (running.delete(tracked)) await sidecar.stop();
      },
    };
    running.add(tracked);
    return tracked;
  };
}
