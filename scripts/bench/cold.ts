// `node scripts/bench/cold.ts`: `health` beside finds by key on a cold SQLite file, against `health` alone. The program must be
// built. BENCH_COLD_MB (default 2000) is the size of the file, BENCH_SECONDS (default 10) the time of each part. Linux only; the
// temporary folder must be on a disk. Prints a table, writes nothing.
import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { callApi } from './call-api.ts';
import { NAMESPACE, THINGS } from './payloads.ts';
import { makeFolder } from './prepare.ts';
import { type Running, start } from './processes.ts';
import { Scenarios } from './scenarios.ts';

const MEGABYTES = Number(process.env.BENCH_COLD_MB ?? '2000');
const SECONDS = Number(process.env.BENCH_SECONDS ?? '10');
const HEALTH_PER_SECOND = 200;
const FINDS_PER_SECOND = 500;
const TARGET = 2;
/** Characters of a row. */
const NOTE_CHARS = Math.floor((MEGABYTES * 1_000_000) / THINGS);

const { folder, secret } = makeFolder({ provider: 'sqlite', file: 'data/database.sqlite' });
const file = join(folder, 'data/database.sqlite');

async function serve(): Promise<{ readonly sidecar: Running; readonly port: number }> {
  const sidecar = start(
    ['dist/sidecar/main.js', '--config', join(folder, 'sidecar.json')],
    join(folder, 'sidecar.log'),
  );
  const port = await sidecar.until((line) => {
    const entry = JSON.parse(line) as Record<string, unknown>;
    return entry.msg === 'listening' ? Number(new URL(String(entry.address)).port) : null;
  });
  return { sidecar, port };
}

async function fill(): Promise<void> {
  const { sidecar, port } = await serve();
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'note', type: 'text' },
  ];
  const schema = { tables: [{ name: 'things', primaryKey: ['id'], columns }] };
  await callApi(port, secret, '/v1/schema/sync', { namespace: NAMESPACE, schema });
  await sidecar.stop();
  const db = new SQLite(file);
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${THINGS})
    INSERT INTO ${NAMESPACE}__things SELECT i, hex(randomblob(${NOTE_CHARS >> 1})) FROM n`);
  db.close();
}

/** Takes the file out of the memory of the system. */
function makeCold(): void {
  const opened = openSync(file, 'r+');
  fsyncSync(opened);
  closeSync(opened);
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
}

async function spotReads(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^sidecar_spot_reads_total (\d+)$/m.exec(text)?.[1]);
}

try {
  await fill();
  const { sidecar, port } = await serve();
  const pid = sidecar.process.pid as number;
  const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
  const health = () => scenarios.load('health', { ratePerSecond: HEALTH_PER_SECOND, warmUpSeconds: 1 });
  const besideFinds = async () => {
    const before = await spotReads(port);
    const finding = scenarios.load('find', { ratePerSecond: FINDS_PER_SECOND, warmUpSeconds: 0, seconds: SECONDS + 1 });
    const served = await health();
    const { answered } = await finding;
    return { ...served, finds: `${(await spotReads(port)) - before} of ${answered}` };
  };
  const alone = { ...(await health()), finds: '' };
  const warm = await besideFinds();
  makeCold();
  const cold = await besideFinds();
  console.log('| health | p50 ms | p99 ms | against alone | finds on the spot |\n|---|---:|---:|---:|---:|');
  for (const [what, { p50Ms, p99Ms, finds }] of Object.entries({
    alone,
    'finds, warm file': warm,
    'finds, cold file': cold,
  })) {
    const ratio = (p50Ms / alone.p50Ms).toFixed(2);
    console.log(`| ${what} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} | ${ratio} | ${finds} |`);
  }
  console.log(`\nTarget: at most ${TARGET} with a cold file.`);
  await sidecar.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
