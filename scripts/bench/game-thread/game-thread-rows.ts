import type { Kind } from '../game_load/loads.ts';
import { costRatio } from './call-cost.ts';
import type { GameThreadFigures, LoadFigure } from './measure-game-thread.ts';

/** Line of the table: a figure, and whether it is good enough. */
export interface GameThreadRow {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly isMet: boolean;
}

interface Aim {
  readonly kind: Kind;
  readonly what: string;
  /** Against `mysql2` and the codec: with the transport in the game's thread, and in its worker. */
  readonly inThread: number;
  readonly withWorker: number;
}

const AIMS: readonly Aim[] = [
  { kind: 'point', what: 'find by key', inThread: 0.75, withWorker: 0.5 },
  { kind: 'update', what: 'update, 300 B → 50 B', inThread: 0.9, withWorker: 0.55 },
  { kind: 'text', what: 'find by key, answer of 20 kB', inThread: 1.1, withWorker: 0.95 },
  { kind: 'list', what: 'list of 1,000 rows of 200 B', inThread: 0.8, withWorker: 0.55 },
];
/** Milliseconds. */
const MOST_OF_TICK = 5;
const MOST_OF_LUA = 5;

const ms = (value: number): string => `${value < 1 ? value.toFixed(3) : value.toFixed(1)} ms`;
const micros = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} µs`;

/** The rows of a run of measurements; rows whose runs are missing are left out. */
export function gameThreadRows(figures: GameThreadFigures): GameThreadRow[] {
  const rows = AIMS.flatMap((aim) => [
    ratioRow(figures, aim, 'helper', 'helper', aim.inThread),
    ratioRow(figures, aim, 'helper, worker', 'helper, with the worker', aim.withWorker),
    ratioRow(figures, aim, 'raw', '`CallMany` alone', null),
    ratioRow(figures, aim, 'raw, worker', '`CallMany` alone, with the worker', null),
  ]);
  return [
    ...rows.filter((row) => row !== null),
    ...['heavy', 'heavy, worker'].flatMap((name) => tickRow(name, figures.runs[name]?.[0])),
    ...luaRow(figures),
  ];
}

function ratioRow(
  figures: GameThreadFigures,
  { kind, what }: Aim,
  way: string,
  words: string,
  most: number | null,
): GameThreadRow | null {
  const [own, other] = [`${kind}:${way}`, `${kind}:mysql2AndCodec`] as const;
  const cost = costRatio(figures, own, other);
  if (cost === undefined) return null;
  const [errors, otherErrors] = [errorsOf(figures, own), errorsOf(figures, other)];
  const wrong = `${errors ? `, ${errors} errors` : ''}${otherErrors ? `, ${otherErrors} errors of \`mysql2\`` : ''}`;
  const spread = cost.rounds === 1 ? '' : `${cost.least.toFixed(2)} to ${cost.most.toFixed(2)}; `;
  const detail = `${spread}${micros(cost.ownMicros)} against ${micros(cost.otherMicros)}${wrong}`;
  return {
    what: `${what}: ${words}`,
    target: most === null ? '' : `${most}`,
    measured: `${cost.ratio.toFixed(2)} (${detail})`,
    isMet: wrong === '' && (most === null || cost.ratio <= most),
  };
}

/** In all rounds of a run. */
function errorsOf({ runs }: GameThreadFigures, name: string): number {
  return (runs[name] ?? []).reduce((sum, { errors }) => sum + errors, 0);
}

function tickRow(name: string, load: LoadFigure | undefined): GameThreadRow[] {
  if (load === undefined) return [];
  const { calls, errors, thread } = load;
  const rate = `${Math.round(calls / thread.seconds)} calls/s, ${errors} errors`;
  return [
    {
      what: `a tick's longest work, 500 calls/s of 2 kB → 20 kB${name.includes('worker') ? ', with the worker' : ''}`,
      target: `${MOST_OF_TICK} ms`,
      measured: `${ms(thread.tickWorkMaxMs)}, p99 ${ms(thread.tickWorkP99Ms)} (${rate})`,
      isMet: errors === 0 && thread.tickWorkMaxMs <= MOST_OF_TICK,
    },
  ];
}

function luaRow({ lua, runs }: GameThreadFigures): GameThreadRow[] {
  if (lua === undefined) return [];
  const connector = runs.lua?.[0]?.cost;
  const more = connector ? `; before it the connector's part, ${ms(connector.medianMs)}` : '';
  return [
    {
      what: "in Lua, 1,000 rows of 200 B: the helper's part with the codec",
      target: `${MOST_OF_LUA} ms`,
      measured: `${ms(lua.medianMs)}, longest ${ms(lua.maxMs)}${more}`,
      isMet: lua.medianMs <= MOST_OF_LUA,
    },
  ];
}
