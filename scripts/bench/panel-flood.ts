// `node scripts/bench/panel-flood.ts`: a whole sidecar, its panel and a game server that says BENCH_LINES (2,000) lines a second for
// BENCH_SECONDS (20); how long Chromium takes for each frame of the console page meanwhile. Printed, not written anywhere.
import { chromium, type Page } from 'playwright-core';
import { buildIfStale } from '../build.ts';
import { provideChromium } from '../servers/chromium-program.ts';
import { type BenchPanel, startBenchPanel } from './panel/bench-panel.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? '20');
const LINES_A_SECOND = Number(process.env.BENCH_LINES ?? '2000');

interface Frames {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  readonly over50: number;
  /** Lines that went by on the page. */
  readonly lines: number;
}

// In the page: the time from each frame to the next.
const MEASURE = `async (seconds) => {
  const lastSeq = () => Number(document.querySelector('.lines-window').lastElementChild.dataset.seq);
  const first = lastSeq();
  const times = await new Promise((done) => {
    const times = [];
    let last = performance.now();
    const end = last + seconds * 1000;
    const frame = (now) => {
      times.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(frame);
      else done(times.slice(1));
    };
    requestAnimationFrame(frame);
  });
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return { count: times.length, p50: at(0.5), p99: at(0.99), longest: at(1), over50: times.filter((time) => time > 50).length,
    lines: lastSeq() - first };
}`;

/** Signed in, on the console, once the page holds as many lines as it keeps. */
async function openConsole(page: Page, { address, signIn }: BenchPanel): Promise<void> {
  const client = await signIn();
  await page.context().addCookies([...client.cookies].map(([name, value]) => ({ name, value, url: address })));
  await client.post('/api/server/start');
  await page.goto(`${address}/#/console`);
  await page.getByRole('log').waitFor();
  await page.waitForTimeout((20_000 / LINES_A_SECOND) * 1000);
}

interface Tasks {
  /** Processor time, so that a busy machine changes it little. */
  readonly busySeconds: number;
  readonly longestMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Tasks of the page's busiest thread. */
function tasksIn(trace: Buffer): Tasks {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const threads = new Map<string, number[]>();
  const pages = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  for (const { pid, tid } of pages) threads.set(`${pid} ${tid}`, []);
  for (const { name, ph, pid, tid, tdur } of traceEvents) {
    if (ph === 'X' && name.endsWith('RunTask')) threads.get(`${pid} ${tid}`)?.push((tdur ?? 0) / 1000);
  }
  const sum = (times: readonly number[]) => times.reduce((total, time) => total + time, 0);
  const [busiest = []] = [...threads.values()].sort((a, b) => sum(b) - sum(a));
  return { busySeconds: sum(busiest) / 1000, longestMs: Math.max(0, ...busiest) };
}

function report(what: string, { count, p50, p99, longest, over50, lines }: Frames, tasks: Tasks): void {
  const [half, most, worst] = [p50, p99, longest].map((ms) => `${ms.toFixed(1)} ms`);
  console.log(
    `${what}: ${Math.round(lines / SECONDS)} lines/s, ${count} frames, p50 ${half}, p99 ${most}, longest ${worst}`,
  );
  console.log(`  frames over 50 ms: ${over50} (target: none)`);
  const busy = Math.round((tasks.busySeconds / SECONDS) * 100);
  console.log(`  processor time of the page's thread: ${busy} %, longest task ${tasks.longestMs.toFixed(1)} ms`);
  if (over50 > 0) process.exitCode = 1;
}

async function measure(panel: BenchPanel): Promise<void> {
  const executablePath = await provideChromium(console.log);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await openConsole(page, panel);
    const watch = async (what: string) => {
      const frames = (await page.evaluate(`(${MEASURE})(${SECONDS})`)) as Frames;
      // Once more for the trace, which itself costs time.
      await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
      await page.waitForTimeout(SECONDS * 1000);
      report(what, frames, tasksIn(await browser.stopTracing()));
    };
    await watch('Following');
    await page.getByRole('searchbox').fill('player 7');
    await watch('With a search');
  } finally {
    await browser.close();
  }
}

await buildIfStale(console.log);
const panel = await startBenchPanel(LINES_A_SECOND);
try {
  await measure(panel);
} finally {
  await panel.stop();
}
