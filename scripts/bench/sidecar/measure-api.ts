import { rmSync } from 'node:fs';
import { type ConnectorResult, measureConnector } from '../connector-scenario.ts';
import { SECONDS } from '../durations.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { EVENTS, THINGS } from '../payloads.ts';
import { makeFolder, prepareTables } from '../prepare.ts';
import { type Memory, memoryOf, run } from '../processes.ts';
import { type ScanResult, Scenarios, type Served } from '../scenarios.ts';
import { count } from '../target.ts';

export interface ApiFigures {
  readonly health: Served;
  readonly bareHealth: Served;
  readonly find: Served;
  readonly insert: Served;
  /** Commits a second. */
  readonly commitLoop: number;
  readonly scan: ScanResult;
  readonly connector: ConnectorResult;
  readonly memory: Memory | null;
}

/** A sidecar on SQLite under one load after another, over POST. */
export async function measureApi(): Promise<ApiFigures> {
  const { folder, secret } = makeFolder();
  try {
    return await withSidecar(folder, async (port, pid) => {
      await prepareTables(port, secret);
      const scenarios = new Scenarios({ folder, port, pid, secret, seconds: SECONDS });
      const health = await scenarios.load('health');
      const bareHealth = await scenarios.bare('health', health);
      const find = await scenarios.load('find');
      const insert = await scenarios.load('insertDurably');
      const commitLoop = Number(await run(['scripts/bench/commit-loop.ts', folder, String(SECONDS)]));
      const scan = await scenarios.findBesideScans();
      const connector = await measureConnector(folder, port, SECONDS);
      return { health, bareHealth, find, insert, commitLoop, scan, connector, memory: memoryOf(pid) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Line {
  readonly scenario: string;
  readonly target: string;
  readonly measured: string;
  readonly ratio: string;
  readonly isMet: boolean;
}

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

function insertLine({ insert, health, commitLoop }: ApiFigures): Line {
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

function lines(measured: ApiFigures): Line[] {
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

/** The signed API beside bare programs: targets of the first version, still looked at. */
export function apiSection(measured: ApiFigures): string {
  const rows = lines(measured).map(
    ({ scenario, target, measured: value, ratio, isMet }) =>
      `| ${scenario} | ${target} | ${value} | ${ratio} | ${isMet ? 'met' : '**missed**'} |`,
  );
  return `
## The signed API over POST

SQLite. The bare POST is Fastify with one route, asked by the same generator with the same signed requests, answering with as many bytes.
Microseconds are the server's processor time for a request, all threads together: unlike the rates they hardly depend on how much of the
machine the generator takes.

| Scenario | Target | Measured | Ratio | |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
