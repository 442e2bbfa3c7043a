import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { PATIENT } from './data-world.ts';

/** Guarded transfers of many clients, by a sidecar that is killed again and again (contract section 11). */

const ROUNDS = 3;
const CLIENTS = 32;
const ACCOUNTS = 10;
const START = 50;
/** Transfers that are answered before each kill. */
const MIN_ANSWERED = 40;

const TABLES = [
  {
    name: 'accounts',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'int32' },
      { name: 'money', type: 'int64' },
    ],
  },
  {
    name: 'log',
    primaryKey: ['n'],
    columns: ['n', 'source', 'target', 'amount'].map((name) => ({ name, type: 'int32' })),
  },
];

interface Transfer {
  readonly n: number;
  readonly source: number;
  readonly target: number;
  readonly amount: number;
  /** The log row collides, after the money has moved. */
  readonly isRefused: boolean;
}

const folder = testFolder();
const done = new Set<number>();
const refused = new Set<number>();
const transfers = new Map<number, Transfer>();
let database: TestDatabase;
let sidecar: TestSidecar;
let last = 0;
let answered = 0;

const byId = (id: number) => ({ field: 'id', op: 'eq', value: id });

/** Without transactions each operation is for itself: there is no half of what was never a whole. */
const isAtomic = () => sidecar.capabilities.transactions;

function operationsOf({ n, source, target, amount, isRefused }: Transfer): object[] {
  const guard = { and: [byId(source), { field: 'money', op: 'gte', value: amount }] };
  return [
    { op: 'update', table: 'accounts', filter: guard, inc: { money: -amount }, expect: { affected: 1 } },
    { op: 'update', table: 'accounts', filter: byId(target), inc: { money: amount }, expect: { affected: 1 } },
    { op: 'insert', table: 'log', rows: [{ n: isRefused ? 0 : n, source, target, amount }] },
  ];
}

function nextTransfer(): Transfer {
  last += 1;
  const source = last % ACCOUNTS;
  const target = (source + 1 + ((last * 7) % (ACCOUNTS - 1))) % ACCOUNTS;
  const transfer = { n: last, source, target, amount: 1 + ((last * 13) % 40), isRefused: last % 5 === 0 };
  transfers.set(last, transfer);
  return transfer;
}

async function transferUntilGone({ client }: SidecarProcess): Promise<void> {
  try {
    for (;;) {
      const transfer = nextTransfer();
      const payload = { namespace: 'bank', operations: operationsOf(transfer), idempotencyKey: `t${transfer.n}` };
      const answer = await client.call('batch', payload);
      answered += 1;
      if (answer.ok) done.add(transfer.n);
      else if (answer.status < 500) refused.add(transfer.n);
    }
  } catch {
    // The process was killed in the middle of this call: whether it was done is unknown, and the rows tell.
  }
}

async function transferAndKill(): Promise<void> {
  const process = await spawnSidecar(folder, { ...PATIENT, database: database.settings });
  const before = answered;
  const clients = Array.from({ length: CLIENTS }, () => transferUntilGone(process));
  while (answered < before + MIN_ANSWERED) await new Promise((resolve) => setTimeout(resolve, 5));
  await process.kill('SIGKILL');
  await Promise.all(clients);
}

beforeAll(async () => {
  database = await newDatabase();
  sidecar = await startSidecar({ database, config: PATIENT });
  await sidecar.client.must('schema.sync', { namespace: 'bank', schema: { tables: TABLES } });
  const rows = Array.from({ length: ACCOUNTS }, (_, id) => ({ id, money: START }));
  await sidecar.client.must('insert', { namespace: 'bank', table: 'accounts', rows });
  await sidecar.client.must('insert', {
    namespace: 'bank',
    table: 'log',
    rows: [{ n: 0, source: 0, target: 0, amount: 0 }],
  });
  if (!isAtomic()) return;
  await sidecar.stop();
  for (let round = 0; round < ROUNDS; round++) await transferAndKill();
  sidecar = await startSidecar({ database, config: { ...PATIENT, limits: { maxRows: 100_000 } } });
}, 180_000);

afterAll(async () => {
  await sidecar?.stop();
  await database?.drop();
});

it('no transfer is done by half, and the sums are exact; without transactions there are no guarded ones', async () => {
  if (!isAtomic()) {
    const transfer = { namespace: 'bank', operations: operationsOf(nextTransfer()) };
    expect((await sidecar.client.call('batch', transfer)).code).toBe('unsupported_operation');
    return;
  }
  const find = async (table: string) =>
    (await sidecar.client.must<{ rows: Record<string, number>[] }>('find', { namespace: 'bank', table })).rows;
  const logged = (await find('log')).filter(({ n }) => n !== 0);
  const money = Array.from({ length: ACCOUNTS }, () => START);
  for (const { source, target, amount } of logged as unknown as Transfer[]) {
    money[source] = (money[source] ?? 0) - amount;
    money[target] = (money[target] ?? 0) + amount;
  }
  expect((await find('accounts')).map((row) => row.money)).toEqual(money);
  expect(money.every((each) => each >= 0)).toBe(true);
  const numbers = new Set(logged.map(({ n }) => n));
  expect([...done].filter((n) => !numbers.has(n))).toEqual([]);
  expect([...refused].filter((n) => numbers.has(n))).toEqual([]);
  expect(Math.min(done.size, refused.size)).toBeGreaterThan(0);
  expect([...transfers.values()].filter(({ n, isRefused }) => isRefused && numbers.has(n))).toEqual([]);
});
