import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Capabilities } from '#engine/engine.ts';
import { clusterUnderTest } from '../support/cluster/cluster-under-test.ts';
import { type SidecarOptions, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import type { Answer, SignedClient } from '../support/signed-client.ts';

/** A sidecar for the tests of a file, started before them and stopped after them. */
export function useSidecar(options: SidecarOptions = {}): {
  readonly client: SignedClient;
  readonly sidecar: TestSidecar;
} {
  let sidecar: TestSidecar | null = null;
  const running = (): TestSidecar => {
    if (sidecar === null) throw new Error('the sidecar is not started yet');
    return sidecar;
  };
  beforeAll(async () => {
    sidecar = await startSidecar(options);
  });
  afterAll(async () => {
    await sidecar?.stop();
  });
  return {
    get client() {
      return running().client;
    },
    get sidecar() {
      return running();
    },
  };
}

/** The only things in which engines may differ, each asked for by its capability. Every other case is the same on all. */
const DIFFERENCES = {
  /** Specification, rule 5 of the endpoints: the document database has no transactions. */
  stoppedInsert: {
    capability: 'transactions',
    name: 'an insert that fails in the middle writes nothing; without transactions the rows before the first error stay',
  },
  /** Contract section 5: a write of many documents is not one transaction. */
  stoppedUpdate: {
    capability: 'transactions',
    name: 'a write that ran out of time has changed nothing; without transactions maybe some rows, and says so',
  },
  /** Contract section 5: what a killed sidecar had begun is completed by the retry with its key. */
  killedInsert: {
    capability: 'transactions',
    name: 'half a request is never there after kill -9; without transactions until it is sent again with its key',
  },
  /** Specification, rule 6 of the endpoints. */
  json: {
    capability: 'filterableJson',
    name: 'json is compared with scalars in a filter; where it cannot be filtered every condition on it is refused',
  },
} as const satisfies Record<string, { capability: keyof Capabilities; name: string }>;

/** A case in two forms; the engine's capability chooses: so each engine has as many cases as any other. */
export function itDiffers(
  difference: keyof typeof DIFFERENCES,
  capabilities: () => Capabilities,
  forms: { readonly can: () => Promise<void>; readonly cannot: () => Promise<void> },
): void {
  const { capability, name } = DIFFERENCES[difference];
  it(name, () => (capabilities()[capability] ? forms.can() : forms.cannot()));
}

/** For tests of answers alone: on a busy machine nothing runs out of time. */
export const PATIENT = { database: { statementTimeoutMs: 60_000 }, api: { requestTimeoutMs: 70_000 } };

/** Generated after these: the next one. On a cluster another one, since each node draws numbers of its own. */
export function expectCountedOn(id: unknown, ...before: readonly number[]): void {
  if (clusterUnderTest() === null) expect(id).toBe(Math.max(0, ...before) + 1);
  else expect(before).not.toContain(id);
}

let namespaces = 0;

/** A namespace of its own with these tables. */
export async function declare(client: SignedClient, ...tables: object[]): Promise<string> {
  namespaces += 1;
  const namespace = `space${namespaces}`;
  await client.must('schema.sync', { namespace, schema: { tables } });
  return namespace;
}

/** Status and code of an answer, `200` where it is ok: what a table of refusals holds. */
export function outcome(answer: Answer): string {
  return answer.ok ? String(answer.status) : `${answer.status} ${answer.code}`;
}

/** The rows of a find, through the native reader. */
export async function rowsOf(client: SignedClient, payload: object): Promise<Record<string, unknown>[]> {
  const { rows } = await client.must<{ rows: Record<string, unknown>[] }>('find', payload);
  return rows;
}
