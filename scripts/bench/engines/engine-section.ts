import { ENGINE_KINDS, type EngineKind } from './items.ts';
import type { EngineFigure, MeasuredEngine } from './measure-engines.ts';

const TARGET = 0.6;

const WHAT: Readonly<Record<EngineKind, string>> = {
  findByKey: 'find by key',
  list20: 'filtered list of 20',
  insert: 'insert of one row',
  insert500: 'insert of 500 rows',
  inc: 'update with `inc`, by key',
  upsert: 'upsert of a row that exists',
};

/** One column an engine; each cell is the ratio, the two rates, and the round trips that a call makes. */
export function engineSection(figures: readonly EngineFigure[]): string {
  const engines = [...new Set(figures.map(({ engine }) => engine))];
  const rows = ENGINE_KINDS.map((kind) => `| ${WHAT[kind]} | ${cells(figures, engines, kind).join(' | ')} |`);
  return `
## Engines

Each operation against a bare, unsigned Fastify POST that runs the same statement through the bare driver with as many connections, asked by the
same generator (target: ${TARGET} at 64 connections). In brackets the calls a second of both, and the round trips to the server
that one call makes (target: 1). Servers wait for the disk at each commit.

| | ${engines.join(' | ')} |
|---|${engines.map(() => '---|').join('')}
${rows.join('\n')}
`;
}

function cells(figures: readonly EngineFigure[], engines: readonly MeasuredEngine[], kind: EngineKind): string[] {
  return engines.map((engine) => {
    const figure = figures.find((candidate) => candidate.engine === engine && candidate.kind === kind);
    return figure === undefined ? '' : cell(figure);
  });
}

function cell({ perSecond, barePerSecond, roundTrips }: EngineFigure): string {
  const ratio = perSecond / barePerSecond;
  const count = (value: number): string => Math.round(value).toLocaleString('en');
  const trips = roundTrips === null ? '' : `; ${Number(roundTrips.toFixed(2))}`;
  return `${ratio >= TARGET ? ratio.toFixed(2) : `**${ratio.toFixed(2)}**`} (${count(perSecond)} of ${count(barePerSecond)}${trips})`;
}
