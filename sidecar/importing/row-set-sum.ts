import { createHash } from 'node:crypto';
import type { Column } from '#protocol/schema.ts';
import type { Row } from '../engine/rows.ts';
import { rowText } from '../moving/checksum.ts';

/** Rows whatever their order: how many, and the sum of their digests. MySQL orders text in another way than this program. */
export class RowSetSum {
  readonly #columns: readonly Column[];
  #rows = 0;
  #sum = 0n;

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Gives the length of the row as JSON. */
  add(row: Row): number {
    this.#rows += 1;
    const text = rowText(this.#columns, row);
    const digest = createHash('sha256').update(text).digest();
    this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64LE(0));
    return text.length;
  }

  equals(other: RowSetSum): boolean {
    return this.#rows === other.#rows && this.#sum === other.#sum;
  }
}
