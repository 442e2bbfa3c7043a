import { join } from 'node:path';
import { WARM_UP_SECONDS } from './durations.ts';
import type { LoadResult } from './load.ts';
import type { LoadOptions } from './load-options.ts';
import { createPayloads, type LoadKind } from './payloads.ts';
import type { PeerKind } from './peers/peer-requests.ts';
import { cpuMicrosOf, run, start } from './processes.ts';

const CONNECTIONS = 64;
const SCANS = 8;

/** Result of a load, and its cost for the server that answered. */
export interface Served extends LoadResult {
  /** Processor time of all its threads, warming up included. */
  readonly cpuMicrosPerRequest: number | null;
}

export interface ScanResult {
  readonly find: Served;
  /** Number of scans by HTTP status. */
  readonly scans: Record<string, number>;
  readonly eventLoopDelayP99Ms: number;
}

/** Settings that all scenarios of one run share. */
interface Settings {
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
  readonly secret: string;
  readonly seconds: number;
}

export class Scenarios {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  load(kind: LoadKind | PeerKind, changes: Partial<LoadOptions> = {}, pid = this.#settings.pid): Promise<Served> {
    const { port, secret, seconds } = this.#settings;
    return this.#generate(pid, {
      port,
      kind,
      kid: 'local',
      secret,
      connections: CONNECTIONS,
      seconds,
      warmUpSeconds: WARM_UP_SECONDS,
      ...changes,
    });
  }

  /** The same generator, signing as before, against Fastify alone. */
  async bare(kind: LoadKind, { answerBytes }: LoadResult): Promise<Served> {
    const server = start(
      ['scripts/bench/bare-server.ts', createPayloads(kind).path, String(answerBytes)],
      join(this.#settings.folder, 'bare.log'),
    );
    try {
      const port = await server.until((line) => Number(line));
      return await this.load(kind, { port }, server.process.pid);
    } finally {
      await server.stop();
    }
  }

  async findBesideScans(): Promise<ScanResult> {
    const { seconds } = this.#settings;
    const scans = this.load('scan', {
      kid: 'scanner',
      connections: SCANS,
      seconds: seconds + WARM_UP_SECONDS,
      warmUpSeconds: 0,
    });
    await this.eventLoopDelayP99Ms();
    const find = await this.load('find');
    const eventLoopDelayP99Ms = await this.eventLoopDelayP99Ms();
    return { find, scans: (await scans).statuses, eventLoopDelayP99Ms };
  }

  /** Event loop delay of the thread that serves the API, since the last question. */
  async eventLoopDelayP99Ms(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#settings.port}/metrics`);
    const text = await response.text();
    const line = /^sidecar_event_loop_delay_seconds\{quantile="0\.99"\} (\S+)$/m.exec(text)?.[1];
    if (line === undefined) throw new Error(`no event-loop delay among the metrics:\n${text}`);
    return Number(line) * 1000;
  }

  async #generate(pid: number, options: LoadOptions): Promise<Served> {
    const before = cpuMicrosOf(pid);
    const result = JSON.parse(await run(['scripts/bench/load.ts', JSON.stringify(options)])) as LoadResult;
    const refused = Object.entries(result.statuses).filter(([status]) => status !== '200' && options.kind !== 'scan');
    if (refused.length > 0) throw new Error(`${options.kind}: ${JSON.stringify(result.statuses)}`);
    const after = cpuMicrosOf(pid);
    const cpuMicrosPerRequest = before === null || after === null ? null : (after - before) / result.answered;
    return { ...result, cpuMicrosPerRequest };
  }
}
