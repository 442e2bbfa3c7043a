import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, SignedClient } from '#support/signed-client.ts';
import type { Outcome } from './calls.ts';

const NAMESPACE = 'moving';
const ROWS = 20;
/** The declaration with as many columns begins again without them. */
const MAX_ADDED = 8;
/** A change that was cut off is finished by another sidecar, after the lease's 10 s; until then calls are told to repeat. */
const MAX_REPEATED_MS = 120_000;
const REPETITION_MS = 200;

/** A schema that changes again and again: each version has one column more, whose default is its number. */
export class MovingSchema {
  #version = 0;
  /** Versions that the database may have. */
  #possible = new Set([0]);

  async prepare(client: SignedClient): Promise<void> {
    await client.must('schema.sync', { namespace: NAMESPACE, schema: { tables: [tableOf(0)] } });
    const rows = Array.from({ length: ROWS }, (_, id) => ({ id, kept: `value ${id}` }));
    await client.must('insert', { namespace: NAMESPACE, table: 'things', rows });
  }

  /** Declares the next version at a sidecar. Resolves when it has answered, or is given up. */
  async change(client: SignedClient): Promise<Outcome> {
    this.#version += 1;
    const version = this.#version;
    this.#possible.add(version);
    const schema = { tables: [tableOf(version)] };
    const answer = await client.call('schema.sync', { namespace: NAMESPACE, schema }).catch(() => null);
    if (answer?.status !== 200) return answer === null || answer.status === 504 ? 'unknown' : 'refused';
    // Nothing was to do, so it waited for nobody: an earlier one that is under way may still be carried out.
    if (answer.result.status === 'unchanged') return 'done';
    // An earlier one that was cut off is finished before this one, or has ended.
    this.#possible = new Set([...this.#possible].filter((each) => each >= version));
    return 'done';
  }

  /** Empty if all sidecars describe the same version, and each value is there. */
  async judge(clients: readonly SignedClient[]): Promise<string[]> {
    // Once rows are served, no change is under way.
    const versions = await Promise.all(clients.map((client) => this.#versionOf(client)));
    const described = await Promise.all(
      clients.map(async (client) => JSON.stringify(await client.must('schema.describe', { namespace: NAMESPACE }))),
    );
    const faults = versions.flatMap((each, at) => (typeof each === 'string' ? [`sidecar ${at}: ${each}`] : []));
    if (new Set(described).size > 1) faults.push(`sidecars describe ${described.join(' and ')}`);
    return faults;
  }

  /** The version that the rows have, or what is wrong with them. */
  async #versionOf(client: SignedClient): Promise<number | string> {
    const answer = await found(client);
    if (!answer.ok) return answer.body;
    const rows = answer.result.rows as readonly Record<string, unknown>[];
    const version = [...this.#possible].find((each) => JSON.stringify(rows) === JSON.stringify(rowsOf(each)));
    return version ?? `${JSON.stringify(rows.slice(0, 2))} of ${rows.length} rows is none of ${[...this.#possible]}`;
  }
}

async function found(client: SignedClient): Promise<Answer> {
  const untilMs = performance.now() + MAX_REPEATED_MS;
  for (;;) {
    const answer = await client.call('find', { namespace: NAMESPACE, table: 'things' });
    if (answer.code !== 'conflict_retry' || performance.now() > untilMs) return answer;
    await wait(REPETITION_MS);
  }
}

function addedOf(version: number): number[] {
  return Array.from({ length: version % (MAX_ADDED + 1) }, (_, column) => column);
}

function tableOf(version: number) {
  const added = addedOf(version).map((column) => ({ name: `c${column}`, type: 'int32', default: column }));
  const columns = [{ name: 'id', type: 'int32' }, { name: 'kept', type: 'string', length: 20 }, ...added];
  return { name: 'things', primaryKey: ['id'], columns };
}

function rowsOf(version: number): object[] {
  const added = Object.fromEntries(addedOf(version).map((column) => [`c${column}`, column]));
  return Array.from({ length: ROWS }, (_, id) => ({ id, kept: `value ${id}`, ...added }));
}
