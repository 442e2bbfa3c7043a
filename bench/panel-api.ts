// `node bench/panel-api.ts`: what the panel costs the API. The slowest in a hundred finds at half of the largest rate, beside an idle
// panel and beside one whose server says 2,000 lines a second to 50 event streams, in turns. Printed, and written nowhere.
// BENCH_SECONDS (default 15) is the time of each load, BENCH_ROUNDS (default 5) how often both are measured.
import { startBenchPanel } from './panel/bench-panel.ts';
import { openStreams } from './panel/open-streams.ts';
import { prepareTables } from './prepare.ts';
import { Scenarios } from './scenarios.ts';

const LINES_A_SECOND = 2000;
const STREAMS = 50;
const SECONDS = Number(process.env.BENCH_SECONDS ?? '15');
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? '5');

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

const panel = await startBenchPanel(LINES_A_SECOND);
try {
  const { apiPort: port, folder, secret } = panel;
  await prepareTables(port, secret);
  const pid = panel.sidecar.process.pid as number;
  const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
  const ratePerSecond = Math.floor((await scenarios.load('find')).perSecond / 2);
  const p99 = async () => (await scenarios.load('find', { ratePerSecond })).p99Ms;
  const client = await panel.signIn();
  const [idle, busy]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    idle.push(await p99());
    await client.post('/api/server/start');
    const readers = await openStreams(panel, STREAMS, true);
    busy.push(await p99());
    for (const { sent } of readers) sent.destroy();
    await client.post('/api/server/force-stop');
    console.log(`round ${round + 1}: p99 ${idle.at(-1)?.toFixed(2)} ms idle, ${busy.at(-1)?.toFixed(2)} ms busy`);
  }
  const times = median(busy) / median(idle);
  const at = `at ${ratePerSecond} finds/s`;
  console.log(
    `median ${at}: ${median(idle).toFixed(2)} and ${median(busy).toFixed(2)} ms, ${times.toFixed(2)} times (target: 1.2)`,
  );
} finally {
  await panel.stop();
}
