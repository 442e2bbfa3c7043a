import type { Target } from './target.ts';

/** Result of a part: its rows of the last table, and its section of the page. */
export interface Measured {
  readonly targets: readonly Target[];
  readonly section: string;
  /** Files of docs/pictures that the section shows. */
  readonly pictures?: readonly Picture[];
}

export interface Picture {
  readonly name: string;
  readonly svg: string;
}
