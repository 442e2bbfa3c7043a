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

  /** The primary keys of an `Insert`, in the order of its rows, where the key is a single column. */
  InsertedIds<T extends DbValue = DbValue>(result: DbResult): T[] {
    return readInsertedIds(result) as T[];
  }

  /** The results of a `Batch`, one an operation, each for the readers and with a `State` of its own; none after an error. */
  Results(result: DbResult): DbResult[] {
    return readResults(result);
  }

  /** Which operation of a `Batch`, counted from 0, its error is about; undefined where it is about none. */
  FailedIndex(result: DbResult): number | undefined {
    return readFailedIndex(result);
  }

  /** The write waits in the write-behind queue; how many rows it will change, and which ids they get, is not known yet. */
  IsQueued(result: DbResult): boolean {
    return readIsQueued(result);
  }

  /** What a `Flush` did. `State` `ok` is not enough: look at `remaining`, `halted` and `deadLettered`. All zero after an error. */
  Flushed(result: DbResult): Flushed {
    return readFlushed(result);
  }

  /** `code: message` of an error; empty where there is none. */
  ErrorMessage(result: DbResult): string {
    return readErrorMessage(result);
  }
}
