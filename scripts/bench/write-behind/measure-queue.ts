import { setTimeout as wait } from 'node:timers/promises';
import { startServers, type TestServer } from '#scripts/servers/start-servers.ts';
import { ENGINES, type MeasuredEngine } from '../engines/measure-engines.ts';
import { memoryOf } from '../processes.ts';
import type { Served } from '../scenarios.ts';
import { inQueueWorld } from './queue-world.ts';

/** What waits when memory and the applier are measured. */
export const MANY = 100_000;
/** Nothing is applied until it is asked for. */
const HELD = { flushIntervalMs: 3_600_000, flushAtPending: 10_000_000 };

export interface QueueFigure {
  readonly engine: MeasuredEngine;
  readonly live: Served;
  readonly queued: Served;
  /** How much faster the queue grew than it was applied: 0 where draining kept up. */
  readonly growthPerSecond: number;
  readonly whileStopped: Served;
  readonly bareSigned: Served;
  /** A signed POST to the sidecar itself that does nothing. */
  readonly health: Served;
  /** At half of `queued`, falling due evenly. */
  readonly atHalf: Served;
  readonly drainedPerSecond: number;
  readonly bareRowsPerSecond: number;
  /** RSS with MANY pending less that before; null where it cannot be told. */
  readonly moreMegabytes: number | null;
}

/** Every engine that can be had, durable, in servers of its own that may be stopped. */
export async function measureQueue(seconds: number, engines = ENGINES): Promise<QueueFigure[]> {
  const names = engines.filter((engine) => engine !== 'sqlite');
  const servers = await startServers({ engines: names, durable: true, isPrivate: true, say: console.log });
  try {
    const figures: QueueFigure[] = [];
    for (const engine of engines) {
      if (engine !== 'sqlite' && servers[engine] === undefined) continue;
      const server = engine === 'sqlite' ? undefined : servers[engine];
      const figure = {
        engine,
        ...(await measureAcks(engine, server, seconds)),
        ...(await measureDrain(engine, server, seconds)),
      };
      console.log(inShort(figure));
      figures.push(figure);
    }
    return figures;
  } finally {
    await servers.stop();
  }
}

type Acks = Pick<
  QueueFigure,
  'live' | 'queued' | 'growthPerSecond' | 'whileStopped' | 'bareSigned' | 'health' | 'atHalf'
>;

async function measureAcks(engine: MeasuredEngine, server: TestServer | undefined, seconds: number): Promise<Acks> {
  return inQueueWorld(engine, server, seconds, {}, async (world) => {
    const { scenarios } = world;
    const live = await scenarios.load('insert');
    const startedAt = performance.now();
    const queued = await scenarios.load('insertQueued');
    const growthPerSecond = (await world.pending()) / ((performance.now() - startedAt) / 1000);
    await world.drain();
    const bareSigned = await world.bareSigned();
    const health = await scenarios.load('health');
    const atHalf = await scenarios.load('insertQueued', { ratePerSecond: queued.perSecond / 2 });
    await world.drain();
    await world.stopDatabase();
    const whileStopped = await scenarios.load('insertQueued').finally(() => world.startDatabase());
    return { live, queued, growthPerSecond, bareSigned, health, atHalf, whileStopped };
  });
}

type Drain = Pick<QueueFigure, 'drainedPerSecond' | 'bareRowsPerSecond' | 'moreMegabytes'>;

async function measureDrain(engine: MeasuredEngine, server: TestServer | undefined, seconds: number): Promise<Drain> {
  return inQueueWorld(engine, server, seconds, HELD, async (world) => {
    const fill = (maxRequests: number) =>
      world.scenarios.load('insertQueued', { maxRequests, seconds: 600, warmUpSeconds: 0 });
    // Compiled and warm, so that what is measured is what waits.
    await fill(MANY / 5);
    await world.drain();
    await wait(1000);
    const before = memoryOf(world.pid);
    await fill(MANY);
    const after = memoryOf(world.pid);
    const { writes, seconds: took } = await world.drain();
    const bareRowsPerSecond = await world.bareRows(seconds);
    const moreMegabytes = before === null || after === null ? null : after.rssMegabytes - before.rssMegabytes;
    return { drainedPerSecond: writes / took, bareRowsPerSecond, moreMegabytes };
  });
}

function inShort(figure: QueueFigure): string {
  const { engine, live, queued, growthPerSecond, whileStopped, bareSigned, health, atHalf } = figure;
  const { drainedPerSecond, bareRowsPerSecond, moreMegabytes } = figure;
  const rate = (served: Served) => `${Math.round(served.perSecond)}/s (${served.cpuMicrosPerRequest?.toFixed(0)} µs)`;
  return [
    `${engine}: queued ${rate(queued)}, live ${rate(live)}, ${(queued.perSecond / live.perSecond).toFixed(2)}`,
    `queue grew ${Math.round(growthPerSecond)}/s, stopped ${rate(whileStopped)}, bare signed ${rate(bareSigned)}, health ${rate(health)}`,
    `p99 at half ${atHalf.p99Ms.toFixed(1)} ms, drained ${Math.round(drainedPerSecond)}/s of ${Math.round(bareRowsPerSecond)}/s`,
    `${moreMegabytes?.toFixed(0)} MB more`,
  ].join('; ');
}
