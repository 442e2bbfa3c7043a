import type { Page } from '../rows.ts';

/** Builds a page from rows as JSON text, up to its limit and its bytes (`FindQuery.maxBytes`). */
export class PageBuilder {
  readonly #limit: number;
  readonly #maxBytes: number;
  #text = '';
  #count = 0;
  #bytes = 2;
  #hasMore = false;

  constructor(limit: number, maxBytes: number) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  /** False if the row does not fit: it and all rows after it are left out, and the page says that there are more. */
  add(row: () => string): boolean {
    if (this.#count === this.#limit) return this.#end();
    const json = row();
    this.#bytes += Buffer.byteLength(json) + 1;
    if (this.#count > 0 && this.#bytes > this.#maxBytes) return this.#end();
    this.#text += this.#count === 0 ? json : `,${json}`;
    this.#count += 1;
    return true;
  }

  #end(): boolean {
    this.#hasMore = true;
    return false;
  }

  page(): Page {
    return { rows: `[${this.#text}]`, hasMore: this.#hasMore };
  }
}

/** Writes a value as an engine reads it, never NULL, as JSON text. */
export type Encode = (value: unknown) => string;

export interface WrittenColumn {
  readonly name: string;
  readonly encode: Encode;
}

/** Writes rows as JSON text, from arrays of values in the order of the columns. */
export class RowWriter {
  readonly #prefixes: readonly string[];
  readonly #encoders: readonly Encode[];
  readonly #from: number;

  /** The first `from` values of a row are not columns and are skipped. */
  constructor(columns: readonly WrittenColumn[], from = 0) {
    this.#prefixes = columns.map(({ name }, position) => `${position === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    this.#encoders = columns.map(({ encode }) => encode);
    this.#from = from;
  }

  write(row: readonly unknown[]): string {
    let text = '';
    for (let position = 0; position < this.#prefixes.length; position++) {
      const value = row[position + this.#from];
      text += this.#prefixes[position] as string;
      text += value === null ? 'null' : (this.#encoders[position] as Encode)(value);
    }
    return `${text}}`;
  }
}
