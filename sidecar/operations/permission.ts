import { ApiError } from '#protocol/errors.ts';
import { OPERATIONS, type OperationName } from '#protocol/operations.ts';
import { operationsIn, type PayloadOf } from '#protocol/payloads.ts';
import type { ApiKey } from '../security/keyring.ts';

/**
 * Before anything is looked up, so that a key learns nothing of what it may not see.
 *
 * @throws ApiError `forbidden`
 */
export function checkPermission<Op extends OperationName>(operation: Op, payload: PayloadOf<Op>, key: ApiKey): void {
  if (!key.mayUseOperation(operation)) throw new ApiError('forbidden', `the key may not use ${operation}`);
  operationsIn(payload as Parameters<typeof operationsIn>[0]).forEach((part, index) => {
    if (key.mayUseOperation(part)) return;
    throw new ApiError('forbidden', `operations[${index}]: the key may not use ${part}`, { index });
  });
  const { namespace } = payload as { namespace?: string };
  if (namespace !== undefined && OPERATIONS[operation].namespace && !key.mayUseNamespace(namespace)) {
    throw new ApiError('forbidden', 'the key may not use this namespace');
  }
}
