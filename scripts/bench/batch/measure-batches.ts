import { rmSync } from 'node:fs';
import mysql from 'mysql2/promise';
import { startServers, type TestServers } from '#scripts/servers/start-servers.ts';
import { callApi } from '../call-api.ts';
import { ENGINES, type MeasuredEngine, withSidecar } from '../engines/measure-engines.ts';
import { makeFolder } from '../prepare.ts';

/** Saving everybody on a full server, in three ways. Saves a second, each of all players. */
export interface BatchFigure {
  readonly engine: MeasuredEngine;
  readonly batches: number;
  /** Single updates, `AT_A_TIME` of them at a time, as the connector sends them. */
  readonly singles: number;
  /** `mysql2` with one prepared statement in a transaction, without any HTTP; null for the others. */
  readonly bare: number | null;
}

export const PLAYERS = 200;
export const AT_A_TIME = 16;
const NAMESPACE = 'bench';
const TABLE = 'saved_players';
const WARMING_UP = 3;
const MIN_SAVES = 5;

const COLUMNS = [
  { name: 'id', type: 'int64' },
  { name: 'cash', type: 'int64', default: 0 },
  { name: 'bank', type: 'decimal', precision: 18, scale: 2, default: 0 },
  { name: 'job', type: 'string', length: 60, default: 'none' },
  { name: 'position', type: 'json', nullable: true },
  { name: 'health', type: 'float64', nullable: true },
];

/** Values of a player's save number `round`: never the same. */
function valuesOf(id: number, round: number) {
  return {
    cash: id * 1000 + round,
    bank: id + (round % 4) / 4,
    job: `job ${(id + round) % 30}`,
    position: { x: id + round / 8, y: -id / 4, z: 30.5, heading: round % 360 },
    health: 100 + ((id + round) % 100) / 3,
  };
}

export async function measureBatches(seconds: number): Promise<BatchFigure[]> {
  const servers = await startServers({ durable: true, say: console.log });
  try {
    const figures: BatchFigure[] = [];
    for (const engine of ENGINES.filter((name) => name === 'sqlite' || servers[name] !== undefined)) {
      const figure = await measureEngine(engine, servers, seconds);
      console.log(`${engine}: ${(figure.batches / figure.singles).toFixed(1)} times the single updates`);
      figures.push(figure);
    }
    return figures;
  } finally {
    await servers.stop();
  }
}

async function measureEngine(engine: MeasuredEngine, servers: TestServers, seconds: number): Promise<BatchFigure> {
  const url = engine === 'sqlite' ? null : `${servers[engine]?.url}`;
  const settings = url === null ? { provider: engine, file: 'data/database.sqlite' } : { provider: engine, url };
  const { folder, secret } = makeFolder(settings);
  try {
    return await withSidecar(folder, async (port) => {
      const call = (path: string, payload: object) => callApi(port, secret, path, { namespace: NAMESPACE, ...payload });
      const rows = Array.from({ length: PLAYERS }, (_, id) => ({ id, ...valuesOf(id, 0) }));
      await call('/v1/schema/sync', { schema: { tables: [{ name: TABLE, primaryKey: ['id'], columns: COLUMNS }] } });
      await call('/v1/data/insert', { table: TABLE, rows });
      // Atomic if that works: it is the default.
      const { capabilities } = (await callApi(port, secret, '/v1/health', {})) as {
        capabilities: { transactions: boolean };
      };
      const atomic = capabilities.transactions;
      const batches = await rate(seconds, (round) => call('/v1/data/batch', { atomic, operations: updates(round) }));
      const singles = await rate(seconds, (round) => oneByOne(updates(round), call));
      const bare = engine === 'mysql' && url !== null ? await bareRate(url, seconds) : null;
      return { engine, batches, singles, bare };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function updates(round: number) {
  return Array.from({ length: PLAYERS }, (_, id) => ({
    ...{ op: 'update', table: TABLE, filter: { field: 'id', op: 'eq', value: id }, set: valuesOf(id, round) },
  }));
}

async function oneByOne(
  operations: ReturnType<typeof updates>,
  call: (path: string, payload: object) => Promise<unknown>,
): Promise<void> {
  const left = operations.values();
  const worker = async () => {
    for (const { op: _, ...payload } of left) await call('/v1/data/update', payload);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

async function bareRate(url: string, seconds: number): Promise<number> {
  const connection = await mysql.createConnection(url);
  try {
    const sql = `UPDATE ${NAMESPACE}__${TABLE} SET cash = ?, bank = ?, job = ?, position = ?, health = ? WHERE id = ?`;
    return await rate(seconds, async (round) => {
      await connection.beginTransaction();
      for (const { set, filter } of updates(round)) {
        const { cash, bank, job, position, health } = set;
        await connection.execute(sql, [cash, bank, job, JSON.stringify(position), health, filter.value]);
      }
      await connection.commit();
    });
  } finally {
    await connection.end();
  }
}

/** Saves a second, one after another. */
async function rate(seconds: number, save: (round: number) => Promise<unknown>): Promise<number> {
  let round = 1;
  for (; round <= WARMING_UP; round += 1) await save(round);
  const startedAt = performance.now();
  let saves = 0;
  let ms = 0;
  for (; saves < MIN_SAVES || ms < seconds * 1000; saves += 1, round += 1) {
    await save(round);
    ms = performance.now() - startedAt;
  }
  return (saves * 1000) / ms;
}

/** Times the single updates; the document database, where each operation is for itself, is for information. */
const LEAST_OF_SINGLES: Readonly<Record<MeasuredEngine, number>> = { sqlite: 8, postgres: 5, mysql: 5, mongodb: 0 };
const LEAST_OF_BARE = 0.5;

function compare(value: number, base: number | null, least: number): string {
  if (base === null) return '';
  const ratio = value / base;
  const text = ratio >= least ? ratio.toFixed(2) : `**${ratio.toFixed(2)}**`;
  return `${text} (${value.toFixed(1)} of ${base.toFixed(1)})`;
}

/** Table with a column for each engine. */
export function batchSection(figures: readonly BatchFigure[]): string {
  const row = (what: string, cell: (figure: BatchFigure) => string) => `| ${what} | ${figures.map(cell).join(' | ')} |`;
  return `
## Saving ${PLAYERS} players

Five columns of each, all different; each cell is a ratio and the two figures, in saves of everybody a second, measured one after the
other in this run. Servers wait for the disk at each commit.

| | ${figures.map(({ engine }) => engine).join(' | ')} |
|---|${figures.map(() => '---|').join('')}
${row(`one \`batch\`, against ${PLAYERS} single updates at ${AT_A_TIME} at a time: 8 on SQLite, 5 on PostgreSQL and MariaDB`, ({ engine, batches, singles }) => compare(batches, singles, LEAST_OF_SINGLES[engine]))}
${row('the same, against `mysql2` with one prepared statement in a transaction: 0.5', ({ batches, bare }) => compare(batches, bare, LEAST_OF_BARE))}
`;
}
