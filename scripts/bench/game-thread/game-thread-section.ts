import os from 'node:os';
import { gameThreadRows } from './game-thread-rows.ts';
import type { GameThreadFigures, LoadFigure } from './measure-game-thread.ts';

const ms = (value: number): string => `${value < 1 ? value.toFixed(3) : value.toFixed(1)} ms`;
const mark = (isMet: boolean, text: string): string => (isMet ? text : `**${text}**`);

function stallCell({ thread }: LoadFigure): string {
  return `${ms(thread.stallMaxMs)} (p99.9 ${ms(thread.stallP999Ms)})`;
}

function pausesCell({ thread }: LoadFigure): string {
  const kinds = thread.pauses.map(
    ({ kind, count, longestMs, totalMs }) => `${count} ${kind}, longest ${ms(longestMs)}, ${ms(totalMs)} in all`,
  );
  return kinds.join('; ') || 'none';
}

function mixedLines({ runs }: GameThreadFigures): string[] {
  const [connector, bare, codec] = ['helper', 'mysql2', 'mysql2AndCodec'].map((way) => runs[`mixed:${way}`]?.[0]);
  if (connector === undefined || bare === undefined || codec === undefined) return [];
  const ratio = connector.thread.stallMaxMs / codec.thread.stallMaxMs;
  const row = (what: string, figure: LoadFigure) =>
    `| ${what} | ${stallCell(figure)} | ${ms(figure.thread.lateMaxMs)} | ${ms(figure.thread.cpuMs / figure.thread.seconds)} | ${pausesCell(figure)} | ${figure.errors} |`;
  return [
    '',
    `Longest stall against \`mysql2\` in the game's thread (target: a quarter): ${mark(ratio <= 0.25, ratio.toFixed(2))}`,
    '',
    '| Mixed load | longest stall | a tick late by at most | processor time a second | collector | errors |',
    '|---|---|---|---|---|---|',
    row('connector', connector),
    row('`mysql2`, rows used where they arrive', bare),
    row("`mysql2`, rows handed to the script's resource", codec),
  ];
}

/** Cost of calls for the thread that runs the game. */
export function gameThreadSection(figures: GameThreadFigures): string {
  const rows = gameThreadRows(figures).map(
    ({ what, target, measured, isMet }) =>
      `| ${what} | ${target} | ${measured} | ${target === '' ? '' : isMet ? 'met' : '**missed**'} |`,
  );
  return `
## The game's thread

The standalone server with the connector as it is shipped and a bundle that calls, a process of its own for each load; eight seconds
of warming up. Finds by key and updates are measured in rounds that take turns: a ratio is the median of those of the rounds, with the
least and the largest in brackets. Processor time is that of the game's thread alone, read with a clock of microseconds, everything included (the helper, the
exports' MessagePack copies, signing, sockets, verifying, collecting, rows that a script looks at), less that of the same
server without calls. 10 calls begin in each tick of 20 ms; of the lists one in each fifth tick. The other side of each ratio is
\`mysql2\` in the same thread, with type casts as oxmysql has them, question and answer copied by the codec of exports, as between a script's
resource and the driver's. A tick's work is the thread's processor time from one tick to the next.

| What | Target | Measured | |
|---|---|---|---|
${[...rows, ...mixedLines(figures)].join('\n')}

The mixed load is 200 point queries a second, and five lists of 1,000 rows in one tick each half second, of the same MariaDB. A stall is a stay
away from the event loop for which the thread had the processor; how late a tick came counts what other programs took, too. The
machine's load average at the end was ${(os.loadavg()[0] ?? 0).toFixed(1)} on ${os.cpus().length} processors, these processes included.
`;
}
