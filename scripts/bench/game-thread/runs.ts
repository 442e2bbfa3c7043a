import type { Kind, LoadName } from '../game_load/loads.ts';

/** A load, and the settings of the connector below it. */
export interface Run {
  readonly load: LoadName;
  /** Words that tell the run from others with the same load; empty if there are none. */
  readonly variant: string;
  /** Fields of `database.json`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly needsMysql: boolean;
  /** The run takes part in so many rounds, from the first one on. */
  readonly rounds: number;
}

/** A run in one of its rounds, counted from 0. */
export interface Turn {
  readonly run: Run;
  readonly round: number;
}

/** Rounds of the kinds whose ratios differ the most from one run of the bench to the next. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? '5');
const KINDS_BY_TURNS: readonly string[] = ['point', 'update'] satisfies Kind[];

const KINDS: readonly Kind[] = ['point', 'update', 'text', 'list'];

/** Name of a run in figures and arguments, such as `point:helper` or `point:helper, worker`. */
export function runName({ load, variant }: Pick<Run, 'load' | 'variant'>): string {
  return variant === '' ? load : `${load}, ${variant}`;
}

/** Settings of `worker` in `database.json`: the transport in the game's thread, or in one of its own. */
const IN_THREAD = { worker: 'off' };
const WORKER = { worker: 'auto' };

const run = (load: LoadName, variant = '', settings: Run['settings'] = {}): Run => ({
  load,
  variant,
  settings,
  needsMysql: /^mixed|mysql2/.test(load),
  // Each round takes off its own idle thread.
  rounds: load === 'idle' || KINDS_BY_TURNS.includes(load.split(':', 1).join()) ? ROUNDS : 1,
});

/** All runs; the ways of a kind beside each other. */
export function runsOf(): readonly Run[] {
  return [
    run('idle'),
    ...KINDS.flatMap((kind) => [
      run(`${kind}:helper`, '', IN_THREAD),
      run(`${kind}:helper`, 'worker', WORKER),
      run(`${kind}:raw`, '', IN_THREAD),
      run(`${kind}:raw`, 'worker', WORKER),
      run(`${kind}:mysql2AndCodec`),
    ]),
    run('heavy', '', IN_THREAD),
    run('heavy', 'worker', WORKER),
    run('lua', '', WORKER),
    run('mixed:helper'),
    run('mixed:mysql2'),
    run('mixed:mysql2AndCodec'),
  ];
}

/** Runs in rounds that take turns, in the reverse order every second time: a busy machine touches all alike. */
export function turnsOf(runs: readonly Run[]): Turn[] {
  const rounds = Array.from({ length: Math.max(0, ...runs.map((each) => each.rounds)) }, (_, round) => round);
  return rounds.flatMap((round) => {
    const turns = runs.filter((each) => each.rounds > round).map((each) => ({ run: each, round }));
    return round % 2 === 0 ? turns : turns.toReversed();
  });
}
