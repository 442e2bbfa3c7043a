import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SECONDS } from '../durations.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { median } from '../median.ts';
import type { LoadKind } from '../payloads.ts';
import { makeFolder, prepareTables } from '../prepare.ts';
import { Scenarios, type Served } from '../scenarios.ts';
import { costTarget, count, rateTarget, type Target } from '../target.ts';

const ROUNDS = 3;
/** Tables that are not scanned stay small. */
const EVENTS = 1000;
const PROGRAM = 'dist/sidecar/main.js';
const KINDS = ['health', 'find', 'insertDurably'] as const satisfies readonly LoadKind[];
type Kind = (typeof KINDS)[number];

/** Medians of short rounds that take turns, so that a busy machine touches all of them alike. */
export interface Cost {
  readonly micros: number;
  readonly perSecond: number;
}

export interface TransportFigure {
  readonly kind: Kind;
  readonly post: Cost;
  readonly stream: Cost;
  /** POST to the build in BENCH_BEFORE, if that names one. */
  readonly before: Cost | null;
}

interface Side {
  readonly name: 'post' | 'stream' | 'before';
  readonly scenarios: Scenarios;
}

/** The earlier build, if BENCH_BEFORE names the folder of a checkout that is built. */
export function programBefore(): string | null {
  const folder = process.env.BENCH_BEFORE;
  if (folder === undefined) return null;
  const program = join(resolve(folder), PROGRAM);
  if (!existsSync(program)) throw new Error(`BENCH_BEFORE: ${folder} is not built`);
  return program;
}

/** Calls over POST and over the stream, on SQLite. */
export async function measureTransports(): Promise<TransportFigure[]> {
  const before = programBefore();
  return inSidecar(PROGRAM, async (now) => {
    if (before === null) return measureSides(now, null);
    return inSidecar(before, (old) => measureSides(now, old));
  });
}

async function inSidecar<T>(program: string, work: (scenarios: Scenarios) => Promise<T>): Promise<T> {
  const { folder, secret } = makeFolder();
  try {
    const serve = async (port: number, pid: number): Promise<T> => {
      await prepareTables(port, secret, EVENTS);
      return work(new Scenarios({ folder, port, pid, secret, seconds: SECONDS / 2 }));
    };
    return await withSidecar(folder, serve, program);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureSides(now: Scenarios, old: Scenarios | null): Promise<TransportFigure[]> {
  const sides: Side[] = [
    { name: 'post', scenarios: now },
    { name: 'stream', scenarios: now },
    ...(old === null ? [] : [{ name: 'before' as const, scenarios: old }]),
  ];
  const figures: TransportFigure[] = [];
  for (const kind of KINDS) {
    const served = new Map<Side['name'], Served[]>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { name, scenarios } of round % 2 === 0 ? sides : sides.toReversed()) {
        const transport = name === 'stream' ? 'stream' : 'post';
        served.set(name, [...(served.get(name) ?? []), await scenarios.load(kind, { transport })]);
      }
    }
    const cost = (name: Side['name']): Cost => costOf(served.get(name) ?? []);
    figures.push({ kind, post: cost('post'), stream: cost('stream'), before: old === null ? null : cost('before') });
  }
  return figures;
}

function costOf(rounds: readonly Served[]): Cost {
  return {
    micros: median(rounds.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest ?? Number.NaN)),
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  };
}

const WHAT: Readonly<Record<Kind, string>> = {
  health: '`health`',
  find: 'find by key',
  insertDurably: 'durable insert',
};
/** Set for the POST of f741667, which BENCH_BEFORE may name; without it the lines compare with this build's, and say so. */
const MOST_OF_POST: Readonly<Record<Kind, number>> = { health: 0.3, find: 0.3, insertDurably: 0.6 };
const LEAST_PER_SECOND: Readonly<Partial<Record<Kind, number>>> = { find: 50_000, insertDurably: 18_000 };
const MOST_OF_BEFORE = 0.75;

export function transportTargets(figures: readonly TransportFigure[], isQuiet: boolean): Target[] {
  return figures.flatMap(({ kind, post, stream, before }) => {
    const base = before ?? post;
    const beside = before === null ? "this build's POST" : "the earlier build's POST";
    const what = `sidecar, ${WHAT[kind]} over the stream against ${beside}: processor time a call`;
    const detail = `${stream.micros.toFixed(1)} of ${base.micros.toFixed(1)} µs`;
    const least = LEAST_PER_SECOND[kind];
    return [
      costTarget(what, stream.micros / base.micros, MOST_OF_POST[kind], detail),
      ...(least === undefined
        ? []
        : [rateTarget(`sidecar, ${WHAT[kind]} over the stream`, stream.perSecond, least, isQuiet)]),
      ...(kind === 'find' && before !== null ? [postTarget(post, before)] : []),
    ];
  });
}

function postTarget(post: Cost, before: Cost): Target {
  const detail = `${post.micros.toFixed(1)} of ${before.micros.toFixed(1)} µs`;
  const what = "find by key over POST against the earlier build's: processor time a call";
  return costTarget(what, post.micros / before.micros, MOST_OF_BEFORE, detail);
}

export function transportSection(figures: readonly TransportFigure[]): string {
  const cell = ({ micros, perSecond }: Cost): string => `${micros.toFixed(1)} µs, ${count(perSecond)}/s`;
  const rows = figures.map(
    ({ kind, post, stream }) =>
      `| ${WHAT[kind]} | ${cell(post)} | ${cell(stream)} | ${(stream.micros / post.micros).toFixed(2)} |`,
  );
  return `
## The stream and POST

SQLite, 64 calls under way, over 64 connections or 4 streams; medians of ${ROUNDS} rounds that take turns. Microseconds are the sidecar's
processor time for a call, all threads together; the rates are those of a machine whose processors the load generator shares.

| | POST of this build | stream | processor time, stream against this POST |
|---|---|---|---|
${rows.join('\n')}
`;
}
