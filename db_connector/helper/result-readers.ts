import {
  type Flushed,
  readErrorMessage,
  readFailedIndex,
  readFlushed,
  readHasMore,
  readInsertedIds,
  readIsQueued,
  readNumber,
  readResults,
  readRows,
} from './readers.ts';
import type { DbResult } from './result.ts';
import type { DbRow, DbValue } from './typed-rows.ts';

/** The methods that read a result. */
export class ResultReaders {
  /** The rows of a `Find` and its kin; none after an error. Integers past 2^53 are BigInt, decimals that no double holds text. */
  Rows<T extends object = DbRow>(result: DbResult<T>): T[];
  Rows<T extends object = DbRow>(result: DbResult): T[];
  Rows<T extends object>(result: DbResult): T[] {
    return readRows<T>(result);
  }

  /** Whether there are more rows than a `Find` gave. */
  HasMore(result: DbResult): boolean {
    return readHasMore(result);
  }

  /** How many rows were counted, changed, deleted or inserted; 0 after an error. */
  Number(result: DbResult): number {
    return readNumber(result);
  }

  /** The primary keys of an `Insert`, in the order of its rows, if the key is a single column. */
  InsertedIds<T extends DbValue = DbValue>(result: DbResult): T[] {
    return readInsertedIds(result) as T[];
  }

  /** The results of a `Batch` by operation, of an `Upsert` of a list by row, each for the readers and with a `State` of its own; none after an error. */
  Results(result: DbResult): DbResult[] {
    return readResults(result);
  }

  /** Place of the operation that failed (`Batch`) or of the row (`Upsert` of a list), counted from 0; undefined if there is none. */
  FailedIndex(result: DbResult): number | undefined {
    return readFailedIndex(result);
  }

  /** The write waits in the write-behind queue; how many rows it will change, and which ids they get, is not known yet. */
  IsQueued(result: DbResult): boolean {
    return readIsQueued(result);
  }

  /** Result of a `Flush`. `State` `ok` is not enough: look at `remaining`, `halted` and `deadLettered`. All zero after an error. */
  Flushed(result: DbResult): Flushed {
    return readFlushed(result);
  }

  /** `code: message` of an error; an empty text if there is none. */
  ErrorMessage(result: DbResult): string {
    return readErrorMessage(result);
  }
}
