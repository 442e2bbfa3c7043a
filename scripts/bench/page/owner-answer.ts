import type { Kind } from '../game_load/loads.ts';
import { costRatio } from '../game-thread/call-cost.ts';
import { type GameThreadRow, gameThreadRows } from '../game-thread/game-thread-rows.ts';
import { gameThreadSection } from '../game-thread/game-thread-section.ts';
import type { GameThreadFigures } from '../game-thread/measure-game-thread.ts';
import type { Measured } from '../measured.ts';
import type { Target } from '../target.ts';
import { type CostRow, costPlot } from './cost-plot.ts';

const PICTURE = 'game-thread.svg';
const TODAY = 'mysql2AndCodec';
const CALLS: readonly { readonly kind: Kind; readonly what: string }[] = [
  { kind: 'point', what: 'find by key' },
  { kind: 'update', what: 'update of 300 B' },
  { kind: 'text', what: 'find, answer of 20 kB' },
  { kind: 'list', what: 'list of 1,000 rows' },
];
/** Ways through the connector, as the runs name them; those without a run are left out. */
const WAYS: readonly { readonly way: string; readonly name: string }[] = [
  { way: 'helper', name: 'helper' },
  { way: 'helper, worker', name: 'helper, worker' },
  { way: 'raw, worker', name: 'CallMany, worker' },
];
const EXAMPLE_PER_SECOND = 500;

interface Cost {
  readonly what: string;
  readonly today: number;
  readonly ways: readonly { readonly name: string; readonly micros: number; readonly ratio: number }[];
}

/** First section of the page: the question of an owner, and all rows that are behind the answer. */
export function ownerAnswer(figures: GameThreadFigures): Measured {
  const costs = CALLS.flatMap(({ kind, what }) => costOf(figures, kind, what));
  const rows: CostRow[] = costs.map(({ what, ways }) => ({
    what,
    bars: ways.map(({ name, ratio }) => ({ name, ratio })),
  }));
  const title = "Processor time of the game's thread for a call";
  return {
    targets: gameThreadRows(figures).flatMap(targetOf),
    section: `${costs.length === 0 ? '' : answerText(costs)}${gameThreadSection(figures)}`,
    pictures: costs.length === 0 ? [] : [{ name: PICTURE, svg: costPlot(title, 'oxmysql’s way', rows) }],
  };
}

function targetOf({ what, target, measured, isMet }: GameThreadRow): Target[] {
  if (target === '') return [];
  const verdict = isMet ? 'met' : 'missed';
  return [{ what: `game's thread, ${what}`, figure: measured, atLeast: `${target} at most`, verdict }];
}

function costOf(figures: GameThreadFigures, kind: Kind, what: string): Cost[] {
  const ratios = WAYS.flatMap(({ way, name }) => {
    const ratio = costRatio(figures, `${kind}:${way}`, `${kind}:${TODAY}`);
    return ratio === undefined ? [] : [{ name, ...ratio }];
  });
  const [first] = ratios;
  if (first === undefined) return [];
  const ways = ratios.map(({ name, ownMicros, ratio }) => ({ name, micros: ownMicros, ratio }));
  return [{ what, today: first.otherMicros, ways }];
}

function answerText(costs: readonly Cost[]): string {
  const names = [...new Set(costs.flatMap(({ ways }) => ways.map(({ name }) => name)))];
  const micros = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} µs`;
  const rows = costs.map(({ what, today, ways }) => {
    const cells = names.map((name) => {
      const way = ways.find((candidate) => candidate.name === name);
      return way === undefined ? '' : `${micros(way.micros)}: **${way.ratio.toFixed(2)}**`;
    });
    return `| ${what} | ${micros(today)} | ${cells.join(' | ')} |`;
  });
  return `
## What does it cost my server's tick?

Every call of a script takes processor time from the thread that runs the game. This is that time for one call: with \`mysql2\` in that
thread, the casts of oxmysql and the codec between a script's resource and the driver's, as servers have it today; and with
\`db_connector\`, whose database work is in another process. Below 1 the tick gets shorter.

| | oxmysql's way | ${names.join(' | ')} |
|---|---|${names.map(() => '---|').join('')}
${rows.join('\n')}

![Bars of the same figures: the cost of each call as a share of oxmysql's way](pictures/${PICTURE})
${exampleText(costs[0])}`;
}

/** The same as time of a second, as owners see it in their profiler. */
function exampleText(cost: Cost | undefined): string {
  // Scripts call through the helper.
  const best = cost?.ways.filter(({ name }) => name.startsWith('helper')).at(-1);
  if (cost === undefined || best === undefined) return '';
  const ms = (value: number): string => `${((value * EXAMPLE_PER_SECOND) / 1000).toFixed(1)} ms`;
  return `
A server with ${EXAMPLE_PER_SECOND} such calls (${cost.what}) a second takes ${ms(best.micros)} of each second from the game's thread (${best.name}) in place of ${ms(cost.today)}.
`;
}
