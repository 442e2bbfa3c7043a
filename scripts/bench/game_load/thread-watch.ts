import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { threadCpuMs } from './thread-clock.ts';

/** A tick of the standalone server. */
export const TICK_MS = 20;
/** A timer this often sees the longest stay away from the event loop to a millisecond. */
const PROBE_MS = 1;

/** Pauses of the collector, of a single kind. */
export interface Pauses {
  readonly kind: string;
  readonly count: number;
  readonly longestMs: number;
  readonly totalMs: number;
}

/** Figures of the thread between `begin` and `end`. Processor time is of this thread alone. */
export interface ThreadFigures {
  readonly seconds: number;
  readonly cpuMs: number;
  /** Processor time from one tick to the next: all work of a tick. */
  readonly tickWorkP99Ms: number;
  readonly tickWorkMaxMs: number;
  /** How much later than due a tick came; what other programs on the machine took is part of it. */
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
  /**
   * The longest and the 99.9th percentile of stays away from the event loop, as far as the thread had the processor: what
   * others on the machine took is no part of it. Of a probe each millisecond; 0 without.
   */
  readonly stallMaxMs: number;
  readonly stallP999Ms: number;
  readonly pauses: readonly Pauses[];
}

const GC_KINDS: Readonly<Record<number, string>> = { 1: 'young', 2: 'young', 4: 'full', 8: 'incremental', 16: 'weak' };

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Watches the thread that it runs in. */
export class ThreadWatch {
  readonly #works: number[] = [];
  readonly #lates: number[] = [];
  readonly #stalls: number[] = [];
  readonly #pauses: { kind: string; ms: number }[] = [];
  readonly #collector = new PerformanceObserver((list) => this.#noteCollector(list.getEntries()));
  readonly #hasProbe: boolean;
  #probe: NodeJS.Timeout | undefined;
  #isCounting = false;
  #startedAt = 0;
  #cpuAtStart = 0;
  #lastCpu = 0;

  constructor(hasProbe: boolean) {
    this.#hasProbe = hasProbe;
  }

  begin(): void {
    this.#collector.observe({ entryTypes: ['gc'] });
    [this.#startedAt, this.#cpuAtStart, this.#isCounting] = [performance.now(), threadCpuMs(), true];
    this.#lastCpu = this.#cpuAtStart;
    if (this.#hasProbe) this.#startProbe();
  }

  /** At the beginning of each tick. */
  tick(dueAt: number): void {
    if (!this.#isCounting) return;
    const cpu = threadCpuMs();
    this.#works.push(cpu - this.#lastCpu);
    this.#lates.push(Math.max(0, performance.now() - dueAt));
    this.#lastCpu = cpu;
  }

  end(): ThreadFigures {
    const [cpuMs, seconds] = [threadCpuMs() - this.#cpuAtStart, (performance.now() - this.#startedAt) / 1000];
    this.#isCounting = false;
    clearInterval(this.#probe);
    this.#noteCollector(this.#collector.takeRecords());
    this.#collector.disconnect();
    return {
      seconds,
      cpuMs,
      tickWorkP99Ms: percentile(this.#works, 0.99),
      tickWorkMaxMs: percentile(this.#works, 1),
      lateP99Ms: percentile(this.#lates, 0.99),
      lateMaxMs: percentile(this.#lates, 1),
      stallMaxMs: percentile(this.#stalls, 1),
      stallP999Ms: percentile(this.#stalls, 0.999),
      pauses: this.#pausesByKind(),
    };
  }

  #startProbe(): void {
    let [lastAt, lastCpu] = [performance.now(), threadCpuMs()];
    this.#probe = setInterval(() => {
      const [now, cpu] = [performance.now(), threadCpuMs()];
      this.#stalls.push(Math.min(now - lastAt, cpu - lastCpu));
      [lastAt, lastCpu] = [now, cpu];
    }, PROBE_MS);
  }

  #noteCollector(entries: readonly PerformanceEntry[]): void {
    for (const entry of entries) {
      const kind = Number((entry as { detail?: { kind?: number } }).detail?.kind);
      if (entry.startTime >= this.#startedAt)
        this.#pauses.push({ kind: GC_KINDS[kind] ?? 'other', ms: entry.duration });
    }
  }

  #pausesByKind(): Pauses[] {
    const kinds = [...new Set(this.#pauses.map(({ kind }) => kind))];
    return kinds.map((kind) => {
      const times = this.#pauses.filter((pause) => pause.kind === kind).map(({ ms }) => ms);
      const totalMs = times.reduce((sum, ms) => sum + ms, 0);
      return { kind, count: times.length, longestMs: Math.max(...times), totalMs };
    });
  }
}
