// `node bench/panel-flood.ts`: a whole sidecar, its panel and a game server that says BENCH_LINES (2,000) lines a second for
// BENCH_SECONDS (20); how long Chromium takes for each frame of the console page meanwhile. Printed, not written anywhere.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { buildIfStale } from '../scripts/build.ts';
import { provideChromium } from '../scripts/servers/chromium-program.ts';
import { PanelClient } from '../test/panel/support/panel-client.ts';
import { writeConfig } from '../test/support/config-folder.ts';
import { start } from './processes.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? '20');
const LINES_A_SECOND = Number(process.env.BENCH_LINES ?? '2000');
const FLOOD = fileURLToPath(new URL('panel_flood/flood-server.ts', import.meta.url));
const ACCOUNT = { username: 'owner', password: 'correct horse battery staple' };

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

/** Setup, sign-in, and the flood as the game server: all as an owner does it. */
async function prepare(address: string, key: string, serverRoot: string): Promise<void> {
  const client = new PanelClient(address);
  await client.session();
  await post(client, '/api/setup/finish', {
    ...{ key, ...ACCOUNT, confirmation: ACCOUNT.password },
    ...{ dashboardName: 'Flood', locale: 'en', backend: 'command', serverRoot },
  });
  await client.login(ACCOUNT.username, ACCOUNT.password);
  const startLine = `"${process.execPath}" "${FLOOD}" ${LINES_A_SECOND}`;
  await post(client, '/api/server-config', { config: { startLine, stopLine: 'quit' } });
  await post(client, '/api/server/start', {});
}

async function post(client: PanelClient, path: string, body: unknown): Promise<void> {
  const { status, text } = await client.post(path, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
}

async function openConsole(page: Page, address: string): Promise<void> {
  await page.goto(`${address}/#/console`);
  await page.getByLabel('User name').fill(ACCOUNT.username);
  await page.getByLabel('Password').fill(ACCOUNT.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('log').waitFor();
  // Until the page holds as many lines as it keeps.
  await page.waitForTimeout((20_000 / LINES_A_SECOND) * 1000);
}

function report(what: string, { count, p50, p99, longest, over50, lines }: Frames, busySeconds: number): void {
  const [half, most, worst] = [p50, p99, longest].map((ms) => `${ms.toFixed(1)} ms`);
  console.log(
    `${what}: ${Math.round(lines / SECONDS)} lines/s, ${count} frames, p50 ${half}, p99 ${most}, longest ${worst}`,
  );
  const busy = Math.round((busySeconds / SECONDS) * 100);
  console.log(`  frames over 50 ms: ${over50} (target: none); the page's thread was busy for ${busy} % of the time`);
  if (over50 > 0) process.exitCode = 1;
}

async function measure(address: string): Promise<void> {
  const executablePath = await provideChromium(console.log);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await openConsole(page, address);
    const debug = await page.context().newCDPSession(page);
    await debug.send('Performance.enable');
    const busySeconds = async () =>
      (await debug.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
    const watch = async (what: string) => {
      const before = await busySeconds();
      const frames = (await page.evaluate(`(${MEASURE})(${SECONDS})`)) as Frames;
      report(what, frames, (await busySeconds()) - before);
    };
    await watch('Following');
    await page.getByRole('searchbox').fill('error');
    await watch('With a search');
  } finally {
    await browser.close();
  }
}

await buildIfStale(console.log);
const folder = mkdtempSync(join(tmpdir(), 'panel-flood-'));
const config = writeConfig(folder, { panel: { enabled: true, port: 0 } });
const sidecar = start(['sidecar/main.ts', '--config', config], join(folder, 'log'));
try {
  const key = await sidecar.until((line) => fieldOf(line, { msg: 'setup key' }, 'key'));
  const address = await sidecar.until((line) => fieldOf(line, { msg: 'listening', service: 'panel' }, 'address'));
  await prepare(address, key, folder);
  await measure(address);
} finally {
  await sidecar.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** A field of a line of the log that has these. */
function fieldOf(line: string, wanted: Readonly<Record<string, string>>, field: string): string | null {
  const entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([name, value]) => entry[name] === value) ? String(entry[field]) : null;
}
