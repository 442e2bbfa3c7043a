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
    ...KINDS.flatMap((kind) => [run(`${kind}:helper`), run(`${kind}:raw`)]),
    run('heavy'),
    run('lua'),
    ...KINDS.map((kind) => run(`${kind}:mysql2AndCodec`)),
    run('mixed:helper'),
    run('mixed:mysql2'),
    run('mixed:mysql2AndCodec'),
  ];
}
