import { secretOf } from './config-folder.ts';
import { Rig } from './connector-rig.ts';
import { type FreshDatabase, freshDatabase, type ServerEngine } from './databases.ts';
import { type SidecarProcess, spawnSidecar } from './sidecar-process.ts';
import { testFolder } from './test-folder.ts';

const TABLE = { namespace: 'game', table: 'counters' };
const SCHEMA = {
  tables: [
    {
      name: 'counters',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int64', autoIncrement: true },
        { name: 'name', type: 'string' },
        { name: 'amount', type: 'int64', default: 0 },
      ],
    },
  ],
};
const CALLERS = 8;
const CALLS_BEFORE = 60;
const CALLS_AFTER = 140;

export interface KillReport {
  /** Codes of calls that did not end well. */
  readonly failures: readonly string[];
  /** Names of rows that were inserted, as the calls say. */
  readonly inserted: readonly string[];
  /** Acknowledged additions to one row. */
  readonly additions: number;
  /** Rows and sum as the database has them. */
  readonly stored: readonly string[];
  readonly amount: number;
  /** Address that the calls went to at the end is the second. */
  readonly isAtSecond: boolean;
  /** Between two ends of calls. */
  readonly longestPauseMs: number;
}

/** Two real sidecars of one database, a connector with both addresses, calls of all kinds, and the first sidecar killed. */
export async function killFirstSidecar(engine: ServerEngine, serverUrl: string): Promise<KillReport> {
  const database = await freshDatabase(engine, serverUrl);
  const sidecars = await Promise.all([spawn(engine, database), spawn(engine, database)]);
  const [first, second] = sidecars;
  const rig = new Rig({ url: sidecars.map(({ address }) => address) }, undefined, secretOf('local'));
  try {
    await rig.run('schema.sync', { namespace: 'game', schema: SCHEMA });
    await rig.run('insert', { ...TABLE, rows: [{ name: 'shared' }] });
    const load = await loadWhile(rig, () => first.kill());
    const { rows } = JSON.parse((await rig.run('find', { ...TABLE, sort: [{ field: 'id' }] })).Json);
    const status = await rig.status();
    return {
      ...load,
      stored: rows.slice(1).map(({ name }: { name: string }) => name),
      amount: rows[0].amount,
      isAtSecond: status.url === second.address,
    };
  } finally {
    await rig.stop();
    await Promise.all(sidecars.map((sidecar) => sidecar.kill()));
    await database.drop();
  }
}

function spawn(provider: ServerEngine, { url }: FreshDatabase): Promise<SidecarProcess> {
  return spawnSidecar(testFolder(), { database: { provider, url, file: undefined } });
}

/** Every fourth call inserts, every fourth adds, the others read. */
async function loadWhile(rig: Rig, kill: () => Promise<unknown>) {
  const failures: string[] = [];
  const inserted: string[] = [];
  let [calls, additions, longestPauseMs, lastEndMs] = [0, 0, 0, performance.now()];
  let killed: Promise<unknown> | null = null;
  const one = async (number: number): Promise<void> => {
    const kind = number % 4;
    const idempotencyKey = `call-${number}`;
    const payload =
      kind === 0
        ? { ...TABLE, rows: [{ name: idempotencyKey }], idempotencyKey }
        : { ...TABLE, filter: { field: 'id', op: 'eq', value: 1 } };
    const change = kind === 1 ? { inc: { amount: 1 }, idempotencyKey } : {};
    const operation = kind === 0 ? 'insert' : kind === 1 ? 'update' : 'find';
    const { State, Code } = await rig.run(operation, { ...payload, ...change });
    const now = performance.now();
    longestPauseMs = Math.max(longestPauseMs, now - lastEndMs);
    lastEndMs = now;
    if (State !== 'ok') failures.push(`${operation}: ${Code}`);
    else if (kind === 0) inserted.push(idempotencyKey);
    else if (kind === 1) additions += 1;
  };
  const caller = async (): Promise<void> => {
    while (calls < CALLS_BEFORE + CALLS_AFTER) {
      calls += 1;
      if (calls === CALLS_BEFORE) killed = kill();
      await one(calls);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  await killed;
  return { failures, inserted, additions, longestPauseMs };
}
