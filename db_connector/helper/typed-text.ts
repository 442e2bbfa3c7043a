declare const described: unique symbol;

/** JSON text as a builder returns it. Wherever it is expected, a plain object does as well. */
export type JsonText = string;

/** JSON text that carries, for the compiler alone, what it says. Text that says nothing about itself is not checked. */
export type Text<D> = string & { readonly [described]?: D };

/** Description that a text carries; `never` if it carries none. */
export type DescribedBy<T> = T extends string & { readonly [described]?: infer D }
  ? unknown extends D
    ? never
    : Exclude<D, undefined>
  : never;

/** A value that was checked against the types of declared rows: from here on it is a value like any other. */
export function erased(checked: unknown): never {
  return checked as never;
}

/** A number that is written digit for digit: what `Q.Number` makes. */
export interface ExactNumber {
  readonly text: string;
  toString(): string;
  toJSON(): unknown;
}

/** Stands for an id that an earlier operation of the same atomic batch has made: what `Q.Result` makes. */
export interface ResultReference {
  readonly $result: readonly [operation: number, row: number];
}
