import { readErrorMessage } from './readers.ts';
import type { DbResult } from './result.ts';

/** A call that failed, for scripts that want exceptions. `message` is `code: message`. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** Error code, such as `constraint_violation`. */
  readonly code: string;
  /** HTTP status of the sidecar's signed answer; 0 if the answer is the connector's or the helper's own. */
  readonly status: number;
  /** The result itself, for the readers. */
  readonly result: DbResult;

  constructor(result: DbResult) {
    super(readErrorMessage(result));
    this.code = result.Code;
    this.status = result.Status;
    this.result = result;
  }
}

/** @throws DatabaseError if the call failed */
export function must<R extends DbResult>(result: R): R {
  if (result.State !== 'ok') throw new DatabaseError(result);
  return result;
}

/** The same methods, whose promises reject with a `DatabaseError` if the call failed. What is no promise stays as it is. */
export function throwing<T extends object>(methods: T): T {
  return new Proxy(methods, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      if (name === 'FindEach') return method.bind(target);
      return async (...args: unknown[]) => must((await method.apply(target, args)) as DbResult);
    },
  });
}
