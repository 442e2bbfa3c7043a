import { afterAll, beforeAll } from 'vitest';
import { type SidecarOptions, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import type { Answer, SignedClient } from '../support/signed-client.ts';

/** One sidecar for the tests of a file, started before them and stopped after them. */
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
