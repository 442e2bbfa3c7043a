import { PanelError } from '../panel-error.ts';
import {
  CHART_RANGES,
  CHART_SERIES,
  type ChartMark,
  type ChartRange,
  type ChartSeries,
  type ChartsAnswer,
} from '../shapes/charts.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { ChartStore, FINEST_STEP, type Sample } from './chart-store.ts';
import { CallCounter } from './latency.ts';
import { OwnUsage, type Usage, usageOf } from './process-usage.ts';

/** The server control, as charts use it. */
export interface WatchedServer {
  status(): ServerStatus;
  onStatus(listener: (status: ServerStatus) => void): void;
  /** null: the server does not report it. */
  health(): { readonly players: number | null } | null;
}

export interface ChartsOptions {
  readonly store: PanelStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly server: WatchedServer;
  /** A full disk only loses points of a chart. */
  readonly onTrouble: (error: unknown) => void;
  /** Process id of a game server that the panel does not run. */
  readonly serverPid?: number | null;
  /** Replaced by tests. */
  readonly usage?: (pid: number) => Promise<Usage | null>;
}

/** Each range has about 350 points, made from the stored samples of step `source`. */
const RANGES: Readonly<
  Record<ChartRange, { readonly seconds: number; readonly step: number; readonly source: number }>
> = {
  '1h': { seconds: 3600, step: 10, source: 10 },
  '6h': { seconds: 6 * 3600, step: 60, source: 60 },
  '24h': { seconds: 86_400, step: 300, source: 60 },
  '7d': { seconds: 7 * 86_400, step: 1800, source: 600 },
};

const MAX_MARKS = 200;
const STEP_MS = FINEST_STEP * 1000;

/** Processor, memory, API and players over time: a sample every ten seconds, kept over restarts. */
export class Charts {
  readonly #options: ChartsOptions;
  readonly #kept: ChartStore;
  readonly #calls = new CallCounter();
  readonly #own = new OwnUsage();
  #sampledAt = performance.now();
  /** null if nothing runs; empty for a run whose start is unknown. */
  #startedAt: string | null;
  #timer: NodeJS.Timeout | null = null;
  #sampling: Promise<void> = Promise.resolve();

  constructor(options: ChartsOptions) {
    this.#options = options;
    this.#kept = new ChartStore(options.store);
    this.#startedAt = runOf(options.server.status());
    options.server.onStatus((status) => this.#saw(status));
  }

  /** Takes a sample every ten seconds from now on. */
  start(): void {
    this.#timer ??= setInterval(() => void this.sample(), STEP_MS).unref();
  }

  /** Resolves when the running sample is stored; nothing is written afterwards. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#sampling;
  }

  /** Counts a call of the API. */
  countCall(ms: number, isFailure: boolean): void {
    this.#calls.add(ms, isFailure);
  }

  sample(): Promise<void> {
    this.#sampling = this.#sampling.then(() => this.#sample()).catch(this.#options.onTrouble);
    return this.#sampling;
  }

  /** @throws PanelError `charts.range` */
  read(name: string): ChartsAnswer {
    const range = CHART_RANGES.find((known) => known === name);
    if (range === undefined) throw new PanelError('charts.range', { field: 'range' });
    const { seconds, step, source } = RANGES[range];
    const last = Math.floor(this.#options.now() / 1000 / step) * step;
    const from = last - seconds + step;
    const points = this.#kept.points(source, step, from);
    const series = {} as Record<ChartSeries, (number | null)[]>;
    for (const name of CHART_SERIES) {
      series[name] = Array.from({ length: seconds / step }, (_, i) => rounded(points.get(from + i * step)?.[name]));
    }
    const marks = this.#kept.marks(from * 1000, MAX_MARKS).map(({ time, kind }) => ({ time: isoOf(time), kind }));
    return { range, from: isoOf(from * 1000), stepSeconds: step, series, marks };
  }

  async #sample(): Promise<void> {
    const { server, serverPid = null, now, usage = usageOf } = this.#options;
    const pid = server.status().pid ?? serverPid;
    const used = pid === null ? null : await usage(pid);
    const own = this.#own.take();
    const { calls, failures, p50, p99 } = this.#calls.take();
    const seconds = Math.max(0.001, (performance.now() - this.#sampledAt) / 1000);
    this.#sampledAt = performance.now();
    const sample: Sample = {
      serverProcessor: used?.processor ?? null,
      serverMemory: used?.memory ?? null,
      sidecarProcessor: own.processor,
      sidecarMemory: own.memory,
      calls: calls / seconds,
      failures: failures / seconds,
      latencyP50: p50,
      latencyP99: p99,
      players: server.health()?.players ?? null,
    };
    this.#kept.add(Math.floor(now() / STEP_MS) * FINEST_STEP, sample);
  }

  /** Marks starts and ends. A restart goes from one run to the next without a stopped state between them. */
  #saw(status: ServerStatus): void {
    const before = this.#startedAt;
    this.#startedAt = runOf(status);
    if (this.#startedAt === before) return;
    try {
      this.#kept.mark(this.#options.now(), markOf(before, this.#startedAt, status));
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }
}

function runOf({ state, startedAt }: ServerStatus): string | null {
  return state === 'stopped' || state === 'crashed' ? null : (startedAt ?? '');
}

function markOf(before: string | null, after: string | null, { state }: ServerStatus): ChartMark['kind'] {
  if (after === null) return state === 'crashed' ? 'crash' : 'stop';
  return before === null || before === '' ? 'start' : 'restart';
}

/** Three digits after the point: finer than a pixel. */
function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value * 1000) / 1000;
}

function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
