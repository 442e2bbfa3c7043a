import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import type { Answer } from '../support/signed-client.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { outcome, PATIENT, rowsOf } from './data-world.ts';

/** Sidecars of one host name on one database; their clocks are 20 s and more apart. */
const SKEWS_MS = [0, -20_000, 25_000];
const ROUNDS = 4;
const ROWS = 60;
let database: TestDatabase;
const sidecars: TestSidecar[] = [];

beforeAll(async () => {
  database = await newDatabase();
  for (const skewMs of SKEWS_MS) {
    sidecars.push(await startSidecar({ database, config: PATIENT, now: () => Date.now() + skewMs }));
  }
});

afterAll(async () => {
  for (const sidecar of sidecars) await sidecar.stop();
  await database.drop();
});

const column = (name: string, more: object) => ({ name, type: 'int32', ...more });
/** Each round adds a required column, drops the one before, and widens a text. */
const schemaOf = (round: number) => ({
  tables: [
    {
      name: 't',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int64' },
        { name: 'kept', type: 'string', length: 20 + round },
        column(`c${round}`, { default: round }),
      ],
    },
  ],
});

/** Page by page: how many rows the neighbours have inserted depends on the machine. */
async function allRows(client: TestSidecar['client'], namespace: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for (;;) {
    const filter = { field: 'id', op: 'gt', value: found.at(-1)?.id ?? -1 };
    const page = await rowsOf(client, { namespace, table: 't', filter, sort: [{ field: 'id' }] });
    if (page.length === 0) return found;
    found.push(...page);
  }
}

it('changes of a schema under describe, reads and writes of the neighbours leave what was declared, and every row', async () => {
  const namespace = 'shared';
  await sidecars[0]?.client.must('schema.sync', { namespace, schema: schemaOf(0) });
  const rows = Array.from({ length: ROWS }, (_, id) => ({ id, kept: `row ${id}` }));
  await sidecars[0]?.client.must('insert', { namespace, table: 't', rows });
  let isOver = false;
  let next = ROWS;
  const inserted = new Set(rows.map(({ id }) => id));
  const answers: Answer[] = [];
  const bother = async ({ client }: TestSidecar): Promise<void> => {
    while (!isOver) {
      answers.push(await client.call('schema.describe', { namespace }));
      const id = next++;
      const insert = await client.call('insert', { namespace, table: 't', rows: [{ id, kept: `row ${id}` }] });
      if (insert.ok) inserted.add(id);
      answers.push(insert);
    }
  };
  const bothering = sidecars.map(bother);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const { client } = sidecars[round % sidecars.length] as TestSidecar;
    const sync = () => client.call('schema.sync', { namespace, schema: schemaOf(round) });
    let answer = await sync();
    // A neighbour that just reads a lease that is given back, or a row in use: said so, and worth a repetition.
    for (let again = 0; again < 20 && !answer.ok; again += 1) {
      expect(['sync_in_progress', 'conflict_retry']).toContain(answer.code);
      answer = await sync();
    }
    expect(outcome(answer)).toBe('200');
  }
  isOver = true;
  await Promise.all(bothering);
  const passing = new Set(['200', '409 sync_in_progress', '409 conflict_retry']);
  expect([...new Set(answers.map(outcome))].filter((each) => !passing.has(each))).toEqual([]);
  for (const { client } of sidecars) {
    const described = await client.must<{ schema: { tables: { columns: { name: string }[] }[] } }>('schema.describe', {
      namespace,
    });
    expect(described.schema.tables[0]?.columns.map(({ name }) => name)).toEqual(['id', 'kept', `c${ROUNDS}`]);
    const found = await allRows(client, namespace);
    const whole = [...inserted].toSorted((a, b) => a - b).map((id) => [id, `row ${id}`, ROUNDS]);
    expect(found.map(({ id, kept, [`c${ROUNDS}`]: last }) => [id, kept, last])).toEqual(whole);
  }
}, 120_000);
