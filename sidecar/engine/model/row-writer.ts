/** Turns a value as an engine reads it, never NULL, into JSON text. */
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

  /** The first `from` values of a row are somebody else's. */
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
