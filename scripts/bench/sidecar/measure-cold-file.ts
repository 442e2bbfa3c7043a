import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { callApi } from '../call-api.ts';
import { SECONDS } from '../durations.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { COLD_ROW_BYTES, COLD_ROWS, NAMESPACE } from '../payloads.ts';
import { makeFolder } from '../prepare.ts';
import { Scenarios } from '../scenarios.ts';
import { costTarget, type Target } from '../target.ts';

/** Finds by key a second, as a large game server makes. */
const FINDS_PER_SECOND = 500;
const CALLERS = 16;
const ROUNDS = 3;
const FILE = 'data/database.sqlite';
const MOST = 2;

export interface ColdFigure {
  /** Medians of `health` calls, one after another. */
  readonly aloneMs: number;
  readonly besideMs: number;
  readonly besideP99Ms: number;
  readonly findP50Ms: number;
  readonly findsPerSecond: number;
}

/** `health` beside finds by key in a file that is larger than the caches have of it. */
export async function measureColdFile(): Promise<ColdFigure> {
  const { folder, secret } = makeFolder({ provider: 'sqlite', file: FILE });
  const file = join(folder, FILE);
  try {
    await withSidecar(folder, (port) => declareCold(port, secret));
    fillCold(file);
    return await withSidecar(folder, async (port, pid) => {
      const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
      const rounds: ColdFigure[] = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureOnce(scenarios, file));
      return rounds.toSorted((a, b) => a.besideMs / a.aloneMs - b.besideMs / b.aloneMs)[ROUNDS >> 1] as ColdFigure;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function declareCold(port: number, secret: string): Promise<void> {
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'note', type: 'string', length: 4000 },
  ];
  const schema = { tables: [{ name: 'cold', primaryKey: ['id'], columns }] };
  await callApi(port, secret, '/v1/schema/sync', { namespace: NAMESPACE, schema });
}

/** Past the API, as gigabytes would take it minutes; the sidecar is not running. */
export function fillCold(file: string, count = COLD_ROWS): void {
  const database = new Database(file);
  database.pragma('journal_mode = DELETE');
  database.pragma('synchronous = OFF');
  const rows = 'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)';
  database
    .prepare(`${rows} INSERT INTO ${NAMESPACE}__cold (id, note) SELECT id, hex(randomblob(?)) FROM n`)
    .run(count, COLD_ROW_BYTES / 2);
  database.pragma('journal_mode = WAL');
  database.close();
}

/** GNU dd tells the kernel that nothing of the file is needed in memory. */
function dropFromCache(file: string): void {
  execFileSync('sync');
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
}

async function measureOnce(scenarios: Scenarios, file: string): Promise<ColdFigure> {
  const health = { connections: 1 };
  const alone = await scenarios.load('health', health);
  dropFromCache(file);
  const [finds, beside] = await Promise.all([
    scenarios.load('findCold', { connections: CALLERS, ratePerSecond: FINDS_PER_SECOND }),
    scenarios.load('health', health),
  ]);
  return {
    aloneMs: alone.p50Ms,
    besideMs: beside.p50Ms,
    besideP99Ms: beside.p99Ms,
    findP50Ms: finds.p50Ms,
    findsPerSecond: finds.perSecond,
  };
}

const SIZE = `${((COLD_ROWS * COLD_ROW_BYTES) / 1e9).toFixed(1)} GB`;

export function coldTargets({ aloneMs, besideMs }: ColdFigure): Target[] {
  const what = `\`health\` p50 while a cold file of ${SIZE} is read by key, against without`;
  return [costTarget(what, besideMs / aloneMs, MOST, `${besideMs.toFixed(3)} of ${aloneMs.toFixed(3)} ms`)];
}

export function coldSection({ aloneMs, besideMs, besideP99Ms, findP50Ms, findsPerSecond }: ColdFigure): string {
  return `
## A cold file

A SQLite file of ${SIZE}, none of it in the caches; ${findsPerSecond.toFixed(0)} finds by random keys a second (p50 ${findP50Ms.toFixed(2)} ms), and a
caller that asks for \`health\` again and again: p50 ${besideMs.toFixed(3)} ms (p99 ${besideP99Ms.toFixed(1)} ms), without the finds ${aloneMs.toFixed(3)} ms.
`;
}
