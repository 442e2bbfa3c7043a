import { setTimeout as wait } from 'node:timers/promises';
import { startServers, type TestServer } from '#scripts/servers/start-servers.ts';
import { ENGINES, type MeasuredEngine } from '../engines/measure-engines.ts';
import { memoryOf } from '../processes.ts';
import type { Served } from '../scenarios.ts';
import { inQueueWorld } from './queue-world.ts';

/** Writes that wait when memory and the applier are measured. */
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
  /** RSS with MANY pending less that before; null if it is unknown. */
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

const count = (value: number): string => Math.round(value).toLocaleString('en');
const mark = (isMet: boolean, text: string): string => (isMet ? text : `**${text}**`);

/** Times the live insert that a buffered one is to be, by engine; the document database is for information. */
const LEAST_OF_LIVE: Readonly<Record<QueueFigure['engine'], number>> = {
  sqlite: 0.9,
  postgres: 2,
  mysql: 2,
  mongodb: 0,
};
/** "Unchanged" leaves room for the noise of a machine. */
const LEAST_WHILE_STOPPED = 0.9;
/** A queue that grows by less than this share of what is accepted keeps up: it is the last second's. */
const KEEPS_UP = 0.1;

interface Row {
  readonly what: string;
  readonly cell: (figure: QueueFigure) => string;
}

const ROWS: readonly Row[] = [
  {
    what: 'buffered insert, against the live durable one: 0.9 on SQLite, 2 on PostgreSQL and MariaDB',
    cell: ({ engine, live, queued, growthPerSecond }) => {
      const keepsUp = growthPerSecond <= KEEPS_UP * queued.perSecond;
      const grows = keepsUp ? '' : `; **the queue grew by ${count(growthPerSecond)} a second**`;
      return `${compare(queued.perSecond, live.perSecond, LEAST_OF_LIVE[engine])}${cost(queued)}${grows}`;
    },
  },
  {
    what: 'the same while the database is stopped, against the line above: unchanged',
    cell: ({ queued, whileStopped }) => compare(whileStopped.perSecond, queued.perSecond, LEAST_WHILE_STOPPED),
  },
  {
    what: 'buffered insert, against a signed POST that does nothing: 0.6',
    cell: ({ queued, bareSigned }) => `${compare(queued.perSecond, bareSigned.perSecond, 0.6)}${cost(bareSigned)}`,
  },
  {
    what: 'the same against `health`, which does nothing but what every signed request costs: for information',
    cell: ({ queued, health }) => `${compare(queued.perSecond, health.perSecond, 0)}${cost(health)}`,
  },
  {
    what: 'applied rows, against batches of 500 through the bare driver: 0.5',
    cell: ({ drainedPerSecond, bareRowsPerSecond }) => compare(drainedPerSecond, bareRowsPerSecond, 0.5),
  },
  {
    what: 'p99 of an acknowledgement at half of the largest rate: under 20 ms',
    cell: ({ atHalf }) => mark(atHalf.p99Ms < 20, `${atHalf.p99Ms.toFixed(1)} ms at ${count(atHalf.perSecond)}/s`),
  },
  {
    what: `memory (RSS) with ${count(MANY)} pending: under 200 MB more`,
    cell: ({ moreMegabytes }) =>
      moreMegabytes === null ? '' : mark(moreMegabytes < 200, `${count(moreMegabytes)} MB`),
  },
];

function compare(value: number, base: number, least: number): string {
  const ratio = value / base;
  return `${mark(ratio >= least, ratio.toFixed(2))} (${count(value)} of ${count(base)})`;
}

function cost({ cpuMicrosPerRequest }: Served): string {
  return cpuMicrosPerRequest === null ? '' : `, ${cpuMicrosPerRequest.toFixed(0)} µs`;
}

/** Table with a column for each engine. */
export function queueSection(figures: readonly QueueFigure[]): string {
  const rows = ROWS.map(({ what, cell }) => `| ${what} | ${figures.map(cell).join(' | ')} |`);
  return `
## Write-behind

64 connections, one row a request; each cell is a ratio and the two figures of a second that make it, measured one after the other
in this run. Servers wait for the disk at each commit, the journal at each group. Microseconds are the sidecar's processor time for
a request; while it drains, that of the applier is part of it. The signed POST is Fastify that verifies a signature and signs an
answer, and nothing more. "Stopped" is a server that is not there, or a SQLite file that another program holds.

| | ${figures.map(({ engine }) => engine).join(' | ')} |
|---|${figures.map(() => '---|').join('')}
${rows.join('\n')}
`;
}
