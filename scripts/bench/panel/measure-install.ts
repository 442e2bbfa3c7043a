import { setTimeout as pause } from 'node:timers/promises';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import type { PanelClient } from '#test/panel/support/panel-client.ts';
import { type CalmP99, calmP99 } from '../calm-windows.ts';
import { SECONDS } from '../durations.ts';
import { prepareTables } from '../prepare.ts';
import { memoryOf } from '../processes.ts';
import { Scenarios } from '../scenarios.ts';
import { type BenchPanel, startPanelWith } from './bench-panel.ts';
import { bundleArchive } from './bundle-archive.ts';
import { BundleInstaller, must } from './bundle-installer.ts';

/** The most that an upload may hold: 20,000 files in 256 MB, packed. */
const LARGE = { files: 20_000, fileBytes: 16_500 };
const USUAL = { files: 200, fileBytes: 5000 };
const FINDS_PER_SECOND = 500;
const CALLERS = 16;
const MEMORY_LOOK_MS = 200;

export interface InstallFigure {
  readonly megabytes: number;
  /** Finds by key without and beside the installs. */
  readonly alone: CalmP99;
  readonly beside: CalmP99;
  readonly loopP99Ms: number;
  /** More than before the first upload; null if the system does not tell. */
  readonly memoryMegabytes: number | null;
  /** From the sending of the archive to the end of its job. */
  readonly seconds: number;
  /** A bundle of 200 files: from its stop to its start in the next version. */
  readonly awayMs: number;
}

/** Cost of installs for the API, and the time that a bundle is away. */
export async function measureInstall(): Promise<InstallFigure> {
  const panel = await startPanelWith({ backend: 'standalone', bundleTools: true });
  try {
    await prepareTables(panel.apiPort, panel.secret, 0);
    const client = await panel.signIn();
    must(await client.post('/api/bundle-tools/settings', { gateSeconds: 1, keepVersions: 0 }));
    const cost = await measureCost(panel, new BundleInstaller(client));
    return { ...cost, awayMs: await measureAway(client) };
  } finally {
    await panel.stop();
  }
}

/** The server stands still, so that nothing but the installs is measured; they go on for as long as the finds do. */
async function measureCost(panel: BenchPanel, installer: BundleInstaller): Promise<Omit<InstallFigure, 'awayMs'>> {
  const { apiPort: port, secret, folder } = panel;
  const pid = panel.sidecar.process.pid as number;
  const archives = ['1.0.0', '2.0.0'].map((version) => bundleArchive('large', { version, ...LARGE }));
  const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
  const finds = () => scenarios.load('find', { connections: CALLERS, ratePerSecond: FINDS_PER_SECOND });
  await finds();
  const alone = await calmP99(finds);
  const memory = new MemoryWatch(pid);
  await scenarios.eventLoopDelayP99Ms();
  let isOver = false;
  const besideFinds = calmP99(finds).finally(() => {
    isOver = true;
  });
  const [startedMs, installs] = [performance.now(), { count: 0 }];
  while (!isOver) {
    await installer.install('large', archives[installs.count % archives.length] as Buffer);
    installs.count += 1;
  }
  const seconds = (performance.now() - startedMs) / 1000 / installs.count;
  const beside = await besideFinds;
  return {
    ...{ megabytes: (archives[0]?.length ?? 0) / 1e6, seconds, memoryMegabytes: memory.end() },
    ...{ alone, beside, loopP99Ms: await scenarios.eventLoopDelayP99Ms() },
  };
}

class MemoryWatch {
  readonly #pid: number;
  readonly #before: number | null;
  #most = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.#before = this.#now();
    this.#timer = setInterval(() => this.#now(), MEMORY_LOOK_MS);
  }

  /** Megabytes above the beginning, at most. */
  end(): number | null {
    clearInterval(this.#timer);
    this.#now();
    return this.#before === null ? null : this.#most - this.#before;
  }

  #now(): number | null {
    const now = memoryOf(this.#pid)?.rssMegabytes ?? null;
    this.#most = Math.max(this.#most, now ?? 0);
    return now;
  }
}

async function measureAway(client: PanelClient): Promise<number> {
  const installer = new BundleInstaller(client);
  await installer.install('shop', bundleArchive('shop', { version: '1.0.0', ...USUAL }));
  must(await client.post('/api/server/start'));
  await lineOf(client, /started shop 1\.0\.0/);
  await installer.install('shop', bundleArchive('shop', { version: '2.0.0', ...USUAL }));
  const stopped = await lineOf(client, /stopped shop/);
  const started = await lineOf(client, /started shop 2\.0\.0/);
  return Date.parse(started.time) - Date.parse(stopped.time);
}

async function lineOf(client: PanelClient, pattern: RegExp): Promise<ConsoleLine> {
  for (;;) {
    const { lines } = must(await client.get<{ lines: ConsoleLine[] }>('/api/logs'));
    const line = lines.find(({ text }) => pattern.test(text));
    if (line !== undefined) return line;
    await pause(MEMORY_LOOK_MS);
  }
}
