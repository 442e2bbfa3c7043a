import type { TroubleScope } from '#engine/model/failures.ts';
import type { SqlFailure } from '../session.ts';
import type { Kind } from './attempt.ts';

/** Advice for the owner. */
export const NOT_IN_TIME = 'it cannot be reached in time: is it running, and not overloaded? It is tried again';
export const NO_REPLICA =
  'no synchronous standby confirms: start it, or take it out of synchronous_standby_names; until then each write is answered 504, outcome unknown (docs/cluster.md)';

/** A server that takes no writes goes on answering when it is asked for its state. */
export function scopeOf(kind: Kind, { isOfServer }: SqlFailure & { readonly kind: 'failed' }): TroubleScope {
  return kind === 'read' && isOfServer !== true ? 'connection' : 'write';
}
