import type { CallTrace } from '../client/call-trace.ts';
import type { CheckedCall } from './call-checks.ts';

/** A call with a ticket. */
export interface AcceptedCall {
  /** Id of the ticket. */
  readonly id: string;
  readonly call: CheckedCall;
  /** Null where the host does not tell. */
  readonly caller: string | null;
  readonly trace: CallTrace;
  /** It was taken while this server's own sidecar was starting: that it took long surprises nobody. */
  readonly wasHeld: boolean;
}
