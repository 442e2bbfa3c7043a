import type { Served } from '../scenarios.ts';
import { MANY, type QueueFigure } from './measure-queue.ts';

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

/** One column an engine. */
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
