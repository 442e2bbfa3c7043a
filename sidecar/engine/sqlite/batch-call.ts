import { ApiError } from '#protocol/errors.ts';
import { type Batch, type BatchOperation, idsIn, isDeferred, targetOf, writeIn } from '../batch.ts';
import type { TableTarget, Write } from '../rows.ts';
import type { BatchStep, BatchWork, Refusal } from './worker/messages.ts';
import type { TellSteps } from './worker/pending-call.ts';
import type { BookedStatement } from './worker/statement-book.ts';
import { compileWrite } from './write-sql.ts';

export interface BatchCall {
  readonly target: TableTarget;
  readonly work: BatchWork;
  readonly statements: readonly BookedStatement[];
  readonly tell: TellSteps;
}

/** Compiles what can be compiled before it runs; the rest when the worker asks for it. */
export function batchCall(batch: Batch, statementOf: (target: TableTarget, sql: string) => BookedStatement): BatchCall {
  const { operations, isAtomic } = batch;
  const statements = new Set<BookedStatement>();
  const stepOf = ({ target, expected }: BatchOperation, write: Write): BatchStep => {
    const work = compileWrite(target, write, (sql) => {
      const statement = statementOf(target, sql);
      statements.add(statement);
      return statement.number;
    });
    return { work, expected };
  };
  const steps = operations.map((operation) => {
    if (operation instanceof ApiError) return refusalOf(operation);
    return isDeferred(operation.write) ? null : stepOf(operation, operation.write);
  });
  const tell: TellSteps = ({ operation: asked, results }) => {
    const idsOf = (operation: number) => idsIn(results[operation] ?? '');
    const reply = operations.flatMap((operation, place): [number, BatchStep | Refusal][] => {
      if (operation instanceof ApiError || !isDeferred(operation.write)) return [];
      if (place < asked || operation.write.after >= asked) return [];
      try {
        return [[place, stepOf(operation, writeIn(operation, idsOf))]];
      } catch (error) {
        if (error instanceof ApiError) return [[place, refusalOf(error)]];
        throw error;
      }
    });
    return { steps: reply, statements };
  };
  const work: BatchWork = { do: 'batch', isAtomic, steps };
  return { target: targetOf(batch), work, statements: [...statements], tell };
}

function refusalOf({ code, message }: ApiError): Refusal {
  return { code, message };
}
