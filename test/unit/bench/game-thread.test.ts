import { expect, it } from 'vitest';
import { costRatio } from '#scripts/bench/game-thread/call-cost.ts';
import { gameThreadRows } from '#scripts/bench/game-thread/game-thread-rows.ts';
import type { GameThreadFigures, LoadFigure } from '#scripts/bench/game-thread/measure-game-thread.ts';
import { runName, runsOf, turnsOf } from '#scripts/bench/game-thread/runs.ts';
import { ownerAnswer } from '#scripts/bench/page/owner-answer.ts';

/** A round of 1,000 calls in a second, by the thread's milliseconds. */
function round(cpuMs: number, errors = 0, calls = 1000): LoadFigure {
  const times = { tickWorkP99Ms: 0, tickWorkMaxMs: 0, lateP99Ms: 0, lateMaxMs: 0, stallMaxMs: 0, stallP999Ms: 0 };
  return { calls, errors, cost: null, thread: { seconds: 1, cpuMs, ...times, pauses: [] } };
}

const figuresOf = (runs: GameThreadFigures['runs']): GameThreadFigures => ({ runs, lua: undefined });

/** The machine is half as fast in the second round, and something else disturbs one side of the third. */
const ROUNDS = figuresOf({
  idle: [round(10), round(20), round(10)],
  'point:helper': [round(85), round(170), round(310)],
  'point:mysql2AndCodec': [round(110), round(220), round(110)],
  'list:helper': [round(60)],
  'list:mysql2AndCodec': [round(110)],
});

it('a ratio is the median of those of the rounds, each net of its own idle thread', () => {
  expect(costRatio(ROUNDS, 'point:helper', 'point:mysql2AndCodec')).toEqual({
    ...{ ratio: 0.75, least: 0.75, most: 3, rounds: 3 },
    ...{ ownMicros: 150, otherMicros: 100 },
  });
});

it('the rows show the least and the largest of several rounds', () => {
  const [point, list] = gameThreadRows(ROUNDS);
  expect(point).toMatchObject({ measured: '0.75 (0.75 to 3.00; 150 µs against 100 µs)', isMet: true });
  expect(list).toMatchObject({ measured: '0.50 (50.0 µs against 100 µs)', isMet: true });
});

it("the owner's answer has the same ratios", () => {
  const { section, targets } = ownerAnswer(ROUNDS);
  expect(section).toContain('| find by key | 100 µs | 150 µs: **0.75** |');
  expect(targets[0]).toMatchObject({ figure: '0.75 (0.75 to 3.00; 150 µs against 100 µs)', verdict: 'met' });
});

it('an error in any round is shown, and misses the target', () => {
  const runs = { ...ROUNDS.runs, 'point:mysql2AndCodec': [round(110), round(220), round(110, 2)] };
  const [row] = gameThreadRows(figuresOf(runs));
  expect(row).toMatchObject({ isMet: false });
  expect(row?.measured).toContain('2 errors of `mysql2`');
});

it.each([
  ['the other way', { 'point:mysql2AndCodec': [round(110), round(220)] }],
  ['an idle thread', { idle: [round(10), round(20)] }],
  ['calls', { 'point:helper': [round(85), round(170), round(310, 0, 0)] }],
])('a round without %s is left out', (_missing, runs) => {
  const figures = figuresOf({ ...ROUNDS.runs, ...runs });
  expect(costRatio(figures, 'point:helper', 'point:mysql2AndCodec')).toMatchObject({ most: 0.75, rounds: 2 });
});

it('there is no ratio without a round of both ways', () => {
  const figures = figuresOf({ ...ROUNDS.runs, 'point:mysql2AndCodec': [] });
  expect(costRatio(figures, 'point:helper', 'point:mysql2AndCodec')).toBeUndefined();
});

it('runs take turns: those of several rounds stay beside each other, and each round begins where the last one ended', () => {
  const names = ['idle', 'point:helper', 'point:mysql2AndCodec', 'list:helper'];
  const runs = runsOf().filter((run) => names.includes(runName(run)));
  const turns = turnsOf(runs).map((turn) => `${turn.round} ${runName(turn.run)}`);
  expect(turns.slice(0, 8)).toEqual([
    ...['0 idle', '0 point:helper', '0 point:mysql2AndCodec', '0 list:helper'],
    ...['1 point:mysql2AndCodec', '1 point:helper', '1 idle', '2 idle'],
  ]);
  expect(turns).toHaveLength(5 + 5 + 5 + 1);
});

it('there is a load of mysql2 for each kind that the page compares', () => {
  const names = runsOf().map(runName);
  for (const kind of ['point', 'update', 'text', 'list']) expect(names).toContain(`${kind}:mysql2AndCodec`);
});
