/** A namespace of its own: other parts of the measurements declare their schemas in others. */
export const NAMESPACE = 'thread';
/** Rows of the table `items`, of 200 bytes of JSON each. */
export const ITEMS = 20_000;
/** Rows of the table `texts`, each with a text of `TEXT_CHARS`. */
export const TEXTS = 200;
export const TEXT_CHARS = 20_000;
export const LIST = 1000;

/** End of a call: whether the script found what it asked for. */
export type Done = (isRight: boolean) => void;

/** A way from a script to the database. The script looks at each row. */
export interface Way {
  point(id: number, done: Done): void;
  update(id: number, n: number, done: Done): void;
  text(id: number, done: Done): void;
  list(after: number, done: Done): void;
  /** At the end of each tick's calls. */
  flush?(): void;
  /** At the beginning of each tick. */
  collect?(): void;
  close?(): unknown;
}

export type WayName = 'helper' | 'raw' | 'mysql2' | 'mysql2AndCodec';

export interface Item {
  readonly id: number;
  readonly note: string;
}

export interface TextRow {
  readonly body: string;
}

/** Columns that an update sets: a payload of 300 bytes. */
export const changeOf = (n: number) => ({ name: `item ${n}`, grp: n % 1000, hits: n, note: 'y'.repeat(120) });

export const isPoint = (rows: readonly object[]): boolean => rows.length === 1;
export const isText = (rows: readonly TextRow[]): boolean => rows[0]?.body.length === TEXT_CHARS;
export const isList = (rows: readonly Item[]): boolean =>
  rows.length === LIST && rows.reduce((sum, { id, note }) => sum + id + note.length, 0) > 0;
