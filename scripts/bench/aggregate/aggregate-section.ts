import { type AggregateFigure, LEDGER_GROUPS, LEDGER_ROWS } from './measure-aggregates.ts';

const TARGET = 0.8;

/** One column an engine. */
export function aggregateSection(figures: readonly AggregateFigure[]): string {
  const cells = figures.map(({ ms, bareMs }) => {
    const ratio = bareMs / ms;
    const text = ratio >= TARGET ? ratio.toFixed(2) : `**${ratio.toFixed(2)}**`;
    return `${text} (${ms.toFixed(0)} ms, bare ${bareMs.toFixed(0)} ms)`;
  });
  return `
## Aggregates

Count, sum of an int64 and sum of a decimal(18,4) over ${LEDGER_ROWS.toLocaleString('en')} rows in ${LEDGER_GROUPS} groups, one at a time, in turns with a bare,
unsigned Fastify POST that runs the same statement through the bare driver; medians, and the rate as a share of the bare one (target: ${TARGET}).

| | ${figures.map(({ engine }) => engine).join(' | ')} |
|---|${figures.map(() => '---|').join('')}
| \`aggregate\` by group | ${cells.join(' | ')} |
`;
}
