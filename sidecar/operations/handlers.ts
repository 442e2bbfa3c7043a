import type { OperationName } from '#protocol/operations.ts';
import type { PayloadOf } from '#protocol/payloads.ts';
import type { CallContext } from '../data/call-context.ts';

export type OperationHandler<Op extends OperationName> = (
  payload: PayloadOf<Op>,
  context: CallContext,
) => Promise<string>;

/** JSON text of the result of each operation. Failures are `ApiError`; anything else is an internal error. */
export type OperationHandlers = { readonly [Op in OperationName]: OperationHandler<Op> };
