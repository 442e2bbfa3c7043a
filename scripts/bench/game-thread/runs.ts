import type { Kind, LoadName } from '../game_load/loads.ts';

/** A load, and the settings of the connector below it. */
export interface Run {
  readonly load: LoadName;
  /** Words that tell the run from others with the same load; empty if there are none. */
  readonly variant: string;
  /** Fields of `database.json`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly needsMysql: boolean;
}

export const KINDS: readonly Kind[] = ['point', 'update', 'text', 'list'];

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
});

/** All runs, those on SQLite first. */
export function runsOf(): readonly Run[] {
  return [
    run('idle'),
    ...KINDS.flatMap((kind) => [
      run(`${kind}:helper`, '', IN_THREAD),
      run(`${kind}:helper`, 'worker', WORKER),
      run(`${kind}:raw`, '', IN_THREAD),
      run(`${kind}:raw`, 'worker', WORKER),
    ]),
    run('heavy', '', IN_THREAD),
    run('heavy', 'worker', WORKER),
    run('lua', '', WORKER),
    ...KINDS.map((kind) => run(`${kind}:mysql2AndCodec`)),
    run('mixed:helper'),
    run('mixed:mysql2'),
    run('mixed:mysql2AndCodec'),
  ];
}
