import type { MeasuredEngine } from '../engines/measure-engines.ts';
import { AT_A_TIME, type BatchFigure, PLAYERS } from './measure-batches.ts';

/** Times the single updates; the document database, where each operation is for itself, is for information. */
const LEAST_OF_SINGLES: Readonly<Record<MeasuredEngine, number>> = { sqlite: 8, postgres: 5, mysql: 5, mongodb: 0 };
const LEAST_OF_BARE = 0.5;

function compare(value: number, base: number | null, least: number): string {
  if (base === null) return '';
  const ratio = value / base;
  const text = ratio >= least ? ratio.toFixed(2) : `**${ratio.toFixed(2)}**`;
  return `${text} (${value.toFixed(1)} of ${base.toFixed(1)})`;
}

/** One column an engine. */
export function batchSection(figures: readonly BatchFigure[]): string {
  const row = (what: string, cell: (figure: BatchFigure) => string) => `| ${what} | ${figures.map(cell).join(' | ')} |`;
  return `
## Saving ${PLAYERS} players

Five columns of each, all different; each cell is a ratio and the two figures, in saves of everybody a second, measured one after the
other in this run. Servers wait for the disk at each commit.

| | ${figures.map(({ engine }) => engine).join(' | ')} |
|---|${figures.map(() => '---|').join('')}
${row(`one \`batch\`, against ${PLAYERS} single updates at ${AT_A_TIME} at a time: 8 on SQLite, 5 on PostgreSQL and MariaDB`, ({ engine, batches, singles }) => compare(batches, singles, LEAST_OF_SINGLES[engine]))}
${row('the same, against `mysql2` with one prepared statement in a transaction: 0.5', ({ batches, bare }) => compare(batches, bare, LEAST_OF_BARE))}
`;
}
