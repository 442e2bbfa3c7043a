import { type AggregateFigure, aggregateSection } from './aggregate/measure-aggregates.ts';
import { type BatchFigure, batchSection } from './batch/measure-batches.ts';
import type { ConnectorResult } from './connector-scenario.ts';
import { type EngineFigure, engineSection } from './engines/measure-engines.ts';
import { gameThreadSection } from './game-thread/game-thread-section.ts';
import type { GameThreadFigures } from './game-thread/measure-game-thread.ts';
import { EVENTS, THINGS } from './payloads.ts';
import type { Memory } from './processes.ts';
import type { ScanResult, Served } from './scenarios.ts';
import { type QueueFigure, queueSection } from './write-behind/measure-queue.ts';

export interface Measured {
  readonly health: Served;
  readonly bareHealth: Served;
  readonly find: Served;
  readonly insert: Served;
  /** Commits a second. */
  readonly commitLoop: number;
  readonly scan: ScanResult;
  readonly connector: ConnectorResult;
  readonly memory: Memory | null;
  readonly engines: readonly EngineFigure[];
  readonly batches: readonly BatchFigure[];
  readonly aggregates: readonly AggregateFigure[];
  readonly queue: readonly QueueFigure[];
  readonly gameThread: GameThreadFigures;
}

interface Line {
  readonly scenario: string;
  readonly target: string;
  readonly measured: string;
  readonly ratio: string;
  readonly isMet: boolean;
}

const count = (value: number): string => Math.round(value).toLocaleString('en');
const cost = ({ cpuMicrosPerRequest }: Served): string =>
  cpuMicrosPerRequest === null ? '' : `, ${cpuMicrosPerRequest.toFixed(0)} µs`;
const rate = (result: Served): string =>
  `${count(result.perSecond)}/s, p99 ${result.p99Ms.toFixed(1)} ms${cost(result)}`;

function ratioLine(scenario: string, result: Served, bare: Served, least: number): Line {
  const ratio = result.perSecond / bare.perSecond;
  return {
    scenario,
    target: `${least} of the bare POST (${count(bare.perSecond)}/s${cost(bare)})`,
    measured: rate(result),
    ratio: ratio.toFixed(2),
    isMet: ratio >= least,
  };
}

function insertLine({ insert, health, commitLoop }: Measured): Line {
  const [byLoop, byHealth] = [3 * commitLoop, 0.6 * health.perSecond];
  const target = Math.min(byLoop, byHealth);
  return {
    scenario: 'signed insert of one row, durable',
    target: `${count(target)}/s, the smaller of 3 × the loop (${count(commitLoop)}/s) and 0.6 of \`health\``,
    measured: rate(insert),
    ratio: `${(insert.perSecond / commitLoop).toFixed(2)} of the loop, ${(insert.perSecond / health.perSecond).toFixed(2)} of \`health\``,
    isMet: insert.perSecond >= target,
  };
}

function below(scenario: string, value: number, limit: number, unit: string, note = ''): Line {
  const text = `${value < 1 ? value.toFixed(3) : value.toFixed(1)} ${unit}${note}`;
  return {
    scenario,
    target: `under ${limit} ${unit}`,
    measured: text,
    ratio: (value / limit).toFixed(2),
    isMet: value < limit,
  };
}

function connectorLines({ callsPerSecond, errors, tickP99Ms, tickMaxMs, cpuMsPerCall }: ConnectorResult): Line[] {
  return [
    {
      scenario: 'connector in the standalone server, half finds by key, half updates',
      target: '2,000 calls/s',
      measured: `${count(callsPerSecond)} calls/s, ${errors} errors`,
      ratio: (callsPerSecond / 2000).toFixed(2),
      isMet: callsPerSecond >= 2000 && errors === 0,
    },
    below('the same: tick p99', tickP99Ms, 5, 'ms', `, longest ${tickMaxMs.toFixed(1)} ms`),
    below("the same: the game thread's processor time a call", cpuMsPerCall, 0.15, 'ms'),
  ];
}

function lines(measured: Measured): Line[] {
  const { health, bareHealth, find, scan, connector, memory } = measured;
  const scans = Object.entries(scan.scans).map(([status, times]) => `${times} × ${status}`);
  return [
    ratioLine('signed `health`', health, bareHealth, 0.6),
    ratioLine(`signed find by key, ${count(THINGS)} rows`, find, bareHealth, 0.4),
    insertLine(measured),
    below(
      `signed find p99 beside 8 full scans of ${count(EVENTS)} rows (${scans.join(', ')})`,
      scan.find.p99Ms,
      50,
      'ms',
      `, ${count(scan.find.perSecond)}/s`,
    ),
    below("the same: event-loop delay p99 of the API's thread", scan.eventLoopDelayP99Ms, 20, 'ms'),
    ...connectorLines(connector),
    ...(memory === null
      ? []
      : [
          below(
            'memory of the sidecar after all of it (RSS)',
            memory.rssMegabytes,
            250,
            'MB',
            `, PSS ${memory.pssMegabytes.toFixed(0)} MB`,
          ),
        ]),
  ];
}

const NOTES = '## Notes';

/**
 * docs/performance.md: the figures of one run. What was written by hand under "Notes" in the page before, such as what limits
 * a missed target, is kept.
 */
export function reportText(machine: readonly string[], measured: Measured, before: string): string {
  const notesAt = before.indexOf(NOTES);
  const notes = notesAt === -1 ? '' : `\n${before.slice(notesAt)}`;
  const rows = lines(measured).map(
    ({ scenario, target, measured: value, ratio, isMet }) =>
      `| ${scenario} | ${target} | ${value} | ${ratio} | ${isMet ? 'met' : '**missed**'} |`,
  );
  return `# Performance

Written by \`npm run bench\`: ${machine.join('; ')}.

The sidecar's rate limits are raised for it (a server's defaults are 5,000 requests a second for a key and 10,000 for an address).
The load generator is a process of its own, on the same machine, and signs every request when it sends it. The bare POST
is Fastify with one route, asked by the same generator with the same signed requests, answering with as many bytes.
Microseconds are the server's processor time for a request, all threads together: unlike the rates they hardly depend on what else
the machine does, and on how much of it the generator takes.

| Scenario | Target | Measured | Ratio | |
|---|---|---|---|---|
${rows.join('\n')}
${sections(measured)}${notes}`;
}

function sections({ engines, batches, aggregates, queue, gameThread }: Measured): string {
  const parts = [engineSection(engines), batchSection(batches), aggregateSection(aggregates), queueSection(queue)];
  return [...parts, gameThreadSection(gameThread)].join('');
}
