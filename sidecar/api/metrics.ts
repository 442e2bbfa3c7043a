import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Engine } from '../engine/engine.ts';
import type { Authenticator } from '../operations/authenticate.ts';
import type { NonceStore } from '../security/nonce-store.ts';
import type { RateLimit } from '../security/rate-limit.ts';

const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000] as const;

/** The histogram holds whole intervals between two looks; what is beyond the interval is delay. */
const TICK_MS = 10;

interface OperationCounts {
  /** By code; a success is `ok`. */
  readonly codes: Map<string, number>;
  /** Not cumulative; the last one is for everything above the buckets. */
  readonly buckets: number[];
  sumMs: number;
  count: number;
}

/** A figure that is read when it is asked for. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly read: () => number;
}

/** Counts of answers, latencies, and figures of others, as Prometheus text. */
export class Metrics {
  readonly #operations = new Map<string, OperationCounts>();
  readonly #gauges: readonly Gauge[];
  readonly #eventLoop: ReturnType<typeof monitorEventLoopDelay>;

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges;
    this.#eventLoop = monitorEventLoopDelay({ resolution: TICK_MS });
    this.#eventLoop.enable();
  }

  count(operation: string, code: string, ms: number): void {
    const counts = this.#operations.get(operation) ?? this.#open(operation);
    counts.codes.set(code, (counts.codes.get(code) ?? 0) + 1);
    let bucket = 0;
    while (bucket < BUCKETS_MS.length && ms > (BUCKETS_MS[bucket] as number)) bucket += 1;
    counts.buckets[bucket] = (counts.buckets[bucket] as number) + 1;
    counts.sumMs += ms;
    counts.count += 1;
  }

  /** The event-loop delay is that since the text was asked for last. */
  text(): string {
    const lines = [...this.#requestLines(), ...this.#durationLines(), ...this.#gaugeLines(), ...this.#eventLoopLines()];
    this.#eventLoop.reset();
    return `${lines.join('\n')}\n`;
  }

  close(): void {
    this.#eventLoop.disable();
  }

  #open(operation: string): OperationCounts {
    const counts = { codes: new Map(), buckets: new Array<number>(BUCKETS_MS.length + 1).fill(0), sumMs: 0, count: 0 };
    this.#operations.set(operation, counts);
    return counts;
  }

  #requestLines(): string[] {
    const lines = header('sidecar_requests_total', 'counter', 'Answers by operation and code; a success is ok.');
    for (const [operation, { codes }] of this.#operations) {
      for (const [code, count] of codes)
        lines.push(`sidecar_requests_total{operation="${operation}",code="${code}"} ${count}`);
    }
    return lines;
  }

  #durationLines(): string[] {
    const name = 'sidecar_request_duration_seconds';
    const lines = header(name, 'histogram', 'From the head of a request to its answer.');
    for (const [operation, { buckets, sumMs, count }] of this.#operations) {
      let below = 0;
      for (const [index, limitMs] of BUCKETS_MS.entries()) {
        below += buckets[index] as number;
        lines.push(`${name}_bucket{operation="${operation}",le="${limitMs / 1000}"} ${below}`);
      }
      lines.push(`${name}_bucket{operation="${operation}",le="+Inf"} ${count}`);
      lines.push(`${name}_sum{operation="${operation}"} ${sumMs / 1000}`);
      lines.push(`${name}_count{operation="${operation}"} ${count}`);
    }
    return lines;
  }

  #gaugeLines(): string[] {
    return this.#gauges.flatMap(({ name, help, type, read }) => [...header(name, type, help), `${name} ${read()}`]);
  }

  #eventLoopLines(): string[] {
    const name = 'sidecar_event_loop_delay_seconds';
    const lines = header(name, 'summary', 'Delay of the thread that serves HTTP, since the last reading.');
    const figures = [
      ['0.5', this.#eventLoop.percentile(50)],
      ['0.99', this.#eventLoop.percentile(99)],
      ['1', this.#eventLoop.max],
    ] as const;
    for (const [quantile, nanoseconds] of figures) {
      lines.push(`${name}{quantile="${quantile}"} ${Math.max(0, nanoseconds / 1e9 - TICK_MS / 1000)}`);
    }
    return lines;
  }
}

function header(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

export interface GaugeSources {
  readonly engine: Pick<Engine, 'stats'>;
  readonly authenticator: Authenticator;
  readonly addressLimit: RateLimit;
  readonly keyLimit: RateLimit;
  readonly nonces: NonceStore;
  /** How many are open. */
  streams(): number;
}

/** Figures of the API, the engine and the process. */
export function gaugesOf({ engine, authenticator, addressLimit, keyLimit, nonces, streams }: GaugeSources): Gauge[] {
  const counter = (name: string, help: string, read: () => number): Gauge => ({ name, help, type: 'counter', read });
  const gauge = (name: string, help: string, read: () => number): Gauge => ({ name, help, type: 'gauge', read });
  const rateLimited = () => addressLimit.refused + keyLimit.refused;
  return [
    counter('sidecar_auth_failures_total', 'Failed authentications.', () => authenticator.failures),
    counter('sidecar_rate_limited_total', 'Requests over the limit of a key or address.', rateLimited),
    gauge('sidecar_streams', 'Streams that are open.', streams),
    gauge('sidecar_nonces', 'Nonces that are remembered.', () => nonces.size),
    gauge('sidecar_reads_waiting', 'Reads that wait for a thread.', () => engine.stats().waitingReads),
    gauge('sidecar_reads_running', 'Reads that run.', () => engine.stats().runningReads),
    gauge('sidecar_writes_waiting', 'Writes that wait for a commit.', () => engine.stats().waitingWrites),
    counter(
      'sidecar_spot_reads_total',
      'Finds answered without a thread of the database.',
      () => engine.stats().spotReads,
    ),
    counter('sidecar_commits_total', 'Commits to the disk.', () => engine.stats().commits),
    counter('sidecar_writes_committed_total', 'Writes in them.', () => engine.stats().committedWrites),
    counter('sidecar_database_timeouts_total', 'Statements ended at their deadline.', () => engine.stats().timeouts),
    gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss()),
  ];
}
