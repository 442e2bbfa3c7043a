// `node scripts/bench/panel-streams.ts`: what 50 open event streams cost the sidecar while the server says 2,000 lines a second, and
// what it costs when their readers take nothing. Printed, and written nowhere. BENCH_SECONDS (default 30) is the time of each part.
import { setTimeout as wait } from 'node:timers/promises';
import { startBenchPanel } from './panel/bench-panel.ts';
import { openStreams } from './panel/open-streams.ts';
import { cpuMicrosOf, memoryOf } from './processes.ts';

const LINES_A_SECOND = 2000;
const STREAMS = 50;
const SECONDS = Number(process.env.BENCH_SECONDS ?? '30');
const SAMPLE_MS = 250;

interface Measured {
  readonly meanMegabytes: number;
  readonly mostMegabytes: number;
  readonly processorPercent: number;
}

async function measure(pid: number): Promise<Measured> {
  const samples: number[] = [];
  const cpuBefore = cpuMicrosOf(pid) ?? Number.NaN;
  const began = performance.now();
  while (performance.now() - began < SECONDS * 1000) {
    samples.push(memoryOf(pid)?.rssMegabytes ?? Number.NaN);
    await wait(SAMPLE_MS);
  }
  const micros = (performance.now() - began) * 1000;
  return {
    meanMegabytes: samples.reduce((sum, sample) => sum + sample, 0) / samples.length,
    mostMegabytes: Math.max(...samples),
    processorPercent: (((cpuMicrosOf(pid) ?? Number.NaN) - cpuBefore) / micros) * 100,
  };
}

function print(what: string, { meanMegabytes, mostMegabytes, processorPercent }: Measured, more = ''): void {
  const memory = `${meanMegabytes.toFixed(0)} MB on average, ${mostMegabytes.toFixed(0)} MB at most`;
  console.log(`${what}: ${memory}, ${processorPercent.toFixed(0)} % of a processor${more}`);
}

const panel = await startBenchPanel(LINES_A_SECOND);
try {
  const pid = panel.sidecar.process.pid as number;
  await (await panel.signIn()).post('/api/server/start');
  // Until the console's memory is full, and the sidecar as large as it gets without readers.
  await wait(20_000);
  const without = await measure(pid);
  print('without streams', without);
  const readers = await openStreams(panel, STREAMS, true);
  const reading = await measure(pid);
  const perSecond = readers.map((reader) => Math.round(reader.lines / SECONDS));
  print(`${STREAMS} readers`, reading, `; ${Math.min(...perSecond)} to ${Math.max(...perSecond)} lines/s each`);
  for (const { sent } of readers) sent.destroy();
  const stalled = await openStreams(panel, STREAMS, false);
  const stalling = await measure(pid);
  print(`${STREAMS} readers that take nothing`, stalling);
  for (const { sent } of stalled) sent.destroy();
  const more = (of: Measured) => (of.mostMegabytes - without.mostMegabytes).toFixed(0);
  console.log(`more at most: ${more(reading)} MB, ${more(stalling)} MB where they take nothing (target: under 150 MB)`);
} finally {
  await panel.stop();
}
