import os from 'node:os';
import type { GameThreadFigures, LoadFigure } from './measure-game-thread.ts';

const ms = (value: number): string => `${value < 1 ? value.toFixed(3) : value.toFixed(1)} ms`;
const mark = (isMet: boolean, text: string): string => (isMet ? text : `**${text}**`);
const verdict = (value: number, limit: number): string => mark(value < limit, ms(value));

const cost = (median: number, max: number): string => `${verdict(median, 5)}, longest ${ms(max)}`;

function stallCell({ thread }: LoadFigure): string {
  return `${ms(thread.stallMaxMs)} (p99.9 ${ms(thread.stallP999Ms)})`;
}

function pausesCell({ thread }: LoadFigure): string {
  const kinds = thread.pauses.map(
    ({ kind, count, longestMs, totalMs }) => `${count} ${kind}, longest ${ms(longestMs)}, ${ms(totalMs)} in all`,
  );
  return kinds.join('; ') || 'none';
}

function line(what: string, target: string, measured: string): string {
  return `| ${what} | ${target} | ${measured} |`;
}

function callLines({ saves, rows, text, lua }: GameThreadFigures): string[] {
  const lines: string[] = [];
  if (saves !== undefined) {
    const { thread, calls, errors } = saves;
    const rate = `${Math.round(calls / thread.seconds)} calls/s, ${errors} errors`;
    const work = `${verdict(thread.tickWorkMaxMs, 5)}, p99 ${ms(thread.tickWorkP99Ms)}`;
    lines.push(
      line(
        'a call with 2 kB: processor time of the thread',
        'under 0.15 ms',
        `${verdict(thread.cpuMs / calls, 0.15)} (${rate})`,
      ),
      line("the same: a tick's longest work", 'under 5 ms', `${work}; collector: ${pausesCell(saves)}`),
    );
  }
  const what = '1,000 rows of 200 bytes fetched, in JavaScript';
  if (rows?.cost) lines.push(line(what, 'under 5 ms', cost(rows.cost.medianMs, rows.cost.maxMs)));
  if (text?.cost && lua !== undefined) {
    const [{ medianMs, maxMs }, own] = [text.cost, lua];
    const parts = `the connector ${cost(medianMs, maxMs)}, the script ${cost(own.medianMs, own.maxMs)}`;
    lines.push(line('the same in Lua', 'under 5 ms', `${verdict(medianMs + own.medianMs, 5)}: ${parts}`));
  }
  return lines;
}

function mysqlLines({ mixed, mysql2, mysql2AndCodec }: GameThreadFigures): string[] {
  if (mixed === undefined || mysql2 === undefined || mysql2AndCodec === undefined) return [];
  const ratio = mixed.thread.stallMaxMs / mysql2AndCodec.thread.stallMaxMs;
  const row = (what: string, figure: LoadFigure) =>
    `| ${what} | ${stallCell(figure)} | ${ms(figure.thread.lateMaxMs)} | ${ms(figure.thread.cpuMs / figure.thread.seconds)} | ${pausesCell(figure)} | ${figure.errors} |`;
  return [
    '',
    `Longest stall against \`mysql2\` in the game's thread (target: a quarter): ${mark(ratio <= 0.25, ratio.toFixed(2))}`,
    '',
    '| Mixed load | longest stall | a tick late by at most | processor time a second | collector | errors |',
    '|---|---|---|---|---|---|',
    row('connector', mixed),
    row('`mysql2`, rows used where they arrive', mysql2),
    row("`mysql2`, rows handed to the script's resource", mysql2AndCodec),
  ];
}

/** Cost of calls for the thread that runs the game. */
export function gameThreadSection(figures: GameThreadFigures): string {
  return `
## The game's thread

The standalone server with the connector as it is shipped and a bundle that calls through the helper, a process of its own; ten seconds of
warming up for each load. Processor time is that of the game's thread alone, everything included: the helper, the exports' MessagePack
copies, signing, HTTP, verifying, collecting, the ticks themselves. The calls with 2 kB are saves of a character, 10 in each tick of 20 ms,
answered by a sidecar on SQLite. A tick's work is the thread's processor time from one tick to the next. A list is
1,000 rows of 200 bytes by key, from the call to rows that a script has looked at; medians. A script in Lua has a runtime of its own in the
same thread: the connector's part until the answer's text is there, and under Debian's Lua 5.4 the helper's, without the codec between them.

| What | Target | Measured |
|---|---|---|
${[...callLines(figures), ...mysqlLines(figures)].join('\n')}

The mixed load is 200 point queries a second, and five lists of 1,000 rows in one tick each half second, of the same MariaDB: through the
sidecar, and with \`mysql2\` in the game's thread and type casts as oxmysql has them. There the rows go on to the script's resource through the
codec of exports, which the last line has and the one before it has not. A stall is a stay away from the event loop for which the thread
had the processor; how late a tick came counts what other programs took, too. The machine's load average at the end was ${(os.loadavg()[0] ?? 0).toFixed(1)}
on ${os.cpus().length} processors, these processes included.
`;
}
