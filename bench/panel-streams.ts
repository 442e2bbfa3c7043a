// `node bench/panel-streams.ts`: what 50 open event streams cost the sidecar while the server says 2,000 lines a second, and
// what it costs when their readers take nothing. Printed, and written nowhere. BENCH_SECONDS (default 30) is the time of each part.
import { type ClientRequest, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { PanelClient } from '../test/panel/support/panel-client.ts';
import { startBenchPanel } from './panel/bench-panel.ts';
import { cpuMicrosOf, memoryOf } from './processes.ts';

const LINES_A_SECOND = 2000;
const STREAMS = 50;
/** The panel lets a session have 20. */
const A_SESSION = 20;
const SECONDS = Number(process.env.BENCH_SECONDS ?? '30');
const SAMPLE_MS = 250;

interface Reader {
  readonly sent: ClientRequest;
  lines: number;
}

/** Counts lines as they come, and parses nothing: it must not cost more than what is measured. */
function openStream(client: PanelClient, isReading: boolean): Promise<Reader> {
  const { hostname, port } = new URL(client.address);
  return new Promise((resolve, reject) => {
    const headers = { cookie: client.cookieHeader };
    const sent = request({ hostname, port, path: '/api/events', headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was refused: ${response.statusCode}`));
      const reader: Reader = { sent, lines: 0 };
      response.on('error', () => {});
      if (isReading) response.on('data', (bytes: Buffer) => (reader.lines += countOf(bytes, '\nid: ')));
      else response.pause();
      resolve(reader);
    });
    sent.on('error', reject);
    sent.end();
  });
}

function countOf(bytes: Buffer, text: string): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) count += 1;
  return count;
}

async function openStreams(clients: readonly PanelClient[], isReading: boolean): Promise<Reader[]> {
  const owners = Array.from({ length: STREAMS }, (_, index) => clients[Math.floor(index / A_SESSION)] as PanelClient);
  return Promise.all(owners.map((client) => openStream(client, isReading)));
}

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
  const clients = [await panel.signIn(), await panel.signIn(), await panel.signIn()];
  await clients[0]?.post('/api/server/start');
  // Until the console's memory is full, and the sidecar as large as it gets without readers.
  await wait(20_000);
  const without = await measure(pid);
  print('without streams', without);
  const readers = await openStreams(clients, true);
  const reading = await measure(pid);
  const perSecond = readers.map((reader) => Math.round(reader.lines / SECONDS));
  print(`${STREAMS} readers`, reading, `; ${Math.min(...perSecond)} to ${Math.max(...perSecond)} lines/s each`);
  for (const { sent } of readers) sent.destroy();
  const stalled = await openStreams(clients, false);
  const stalling = await measure(pid);
  print(`${STREAMS} readers that take nothing`, stalling);
  for (const { sent } of stalled) sent.destroy();
  const more = (of: Measured) => (of.mostMegabytes - without.mostMegabytes).toFixed(0);
  console.log(`more at most: ${more(reading)} MB, ${more(stalling)} MB where they take nothing (target: under 150 MB)`);
} finally {
  await panel.stop();
}
