import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OVERFLOW } from '../support/model/nasty-values.ts';
import { programs } from '../support/model/program-arbitrary.ts';
import { MODEL_NOW_MS, randomTables } from '../support/model/random-schema.ts';
import type { RandomSource } from '../support/model/random-source.ts';
import { requestOf, schemaText } from '../support/model/requests.ts';
import type { Program, Step } from '../support/model/types.ts';
import { unique } from '../support/sidecar.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { PATIENT, useSidecar } from './data-world.ts';

/**
 * A batch does what its operations do one by one, and answers what they answer; an atomic one that is refused does nothing,
 * and names one that is refused when each is for itself.
 */

const RUNS = 6;
const STEPS = 60;
const WRITES: readonly string[] = ['insert', 'update', 'upsert', 'delete'];

const world = useSidecar({
  now: () => MODEL_NOW_MS,
  config: {
    ...PATIENT,
    schema: { removed: 'drop' },
    limits: { perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000 },
  },
});

/** A failed write uses ids up on some engines: two ways need not give the same ids. */
const tables = (random: RandomSource) =>
  randomTables(random).map((table) => ({
    ...table,
    columns: table.columns.map((column) => ({ ...column, autoIncrement: false })),
  }));

const call = async (operation: string, namespace: string, rest: string) =>
  world.client.call(operation, `{"namespace":"${namespace}",${rest}}`);

interface Failure {
  readonly code: string;
  readonly index?: number;
}

const failureOf = (text: string) => (JSON.parse(text) as { error?: Failure }).error;

/** A write with its operation and the rest of its payload. */
type Request = ReturnType<typeof requestOf>;

const batch = (namespace: string, atomic: boolean, group: readonly Request[]) => {
  const operations = group.map(({ operation, payload }) => `{"op":"${operation}",${payload}}`);
  return call('batch', namespace, `"atomic":${atomic},"operations":[${operations}]`);
};

async function rowsOf(namespace: string, { tables: declared }: Program): Promise<string[]> {
  const texts: string[] = [];
  for (const { name } of declared) texts.push((await call('find', namespace, `"table":"${name}"`)).text);
  return texts;
}

/** An unreadable operation refuses the whole batch: it is left out of the group. */
async function readable(namespace: string, group: readonly Request[]): Promise<readonly Request[]> {
  const answer = await batch(namespace, false, group);
  const failure = answer.ok ? undefined : failureOf(answer.text);
  if (failure?.index === undefined) return group;
  return readable(namespace, group.toSpliced(failure.index, 1));
}

async function compare(program: Program, group: readonly Request[], one: string, other: string, scratch: string) {
  const known = await readable(scratch, group);
  if (known.length === 0) return;
  const before = await rowsOf(one, program);
  const whole = world.sidecar.capabilities.transactions ? await batch(one, true, known) : null;
  if (whole?.ok === false) expect(await rowsOf(one, program)).toEqual(before);
  const answer = whole?.ok === true ? whole : await batch(one, false, known);
  expect(answer.status, answer.text).toBe(200);
  const results = (answer.result as { results: { error?: Failure }[] }).results;
  for (const [i, { operation, payload }] of known.entries()) {
    const alone = await call(operation, other, payload);
    const expected = alone.ok ? alone.result : { error: { code: alone.code, message: expect.any(String) } };
    expect(results[i], `${operation} ${payload}`).toEqual(expected);
  }
  if (whole?.ok !== false) return;
  // Either of two faults is answered.
  const refusal = failureOf(whole.text);
  expect(results[refusal?.index ?? -1]?.error?.code, whole.text).toBe(refusal?.code);
}

const isWrite = (step: Step) => WRITES.includes(step.op);

it('is that of its operations one by one', { timeout: 300_000 }, async () => {
  const property = fc.asyncProperty(
    programs({ steps: STEPS, tables }),
    fc.integer({ min: 1, max: 9 }),
    async (program, size) => {
      const [one, other, scratch] = [unique('a'), unique('b'), unique('c')];
      for (const namespace of [one, other, scratch]) {
        await world.client.must('schema.sync', `{"namespace":"${namespace}","schema":${schemaText(program.tables)}}`);
      }
      const writes = program.steps.filter(isWrite).map((step) => requestOf({ ...step, key: null } as Step));
      const clean = writes.filter(({ payload }) => !payload.includes(OVERFLOW));
      for (let at = 0; at < clean.length; at += size) {
        await compare(program, clean.slice(at, at + size), one, other, scratch);
      }
      expect(await rowsOf(one, program)).toEqual(await rowsOf(other, program));
    },
  );
  await fc.assert(property, { numRuns: RUNS, seed: TEST_SEED, endOnFailure: true });
});
