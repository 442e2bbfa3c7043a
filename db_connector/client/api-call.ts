import type { ServerTiming } from '../protocol/server-timing.ts';
import type { ApiAddress } from './api-address.ts';
import { type ApiRequest, Attempt } from './attempt.ts';
import type { CallTrace } from './call-trace.ts';
import type { Outcome, Result } from './outcome.ts';

/** Client that a call goes through. */
interface CallClient {
  attemptEnded(call: ApiCall, outcome: Outcome, stalledMs: number, told: ServerTiming | null): void;
  attemptFailed(call: ApiCall, error: unknown): void;
}

/** A call with its attempts, as `ApiClient` makes them. */
export abstract class ApiCall extends Attempt {
  /** Whether a second time does no harm. */
  readonly isRepeatable: boolean;
  readonly trace: CallTrace;
  /** Client that it began under; null if it has not begun. */
  client: CallClient | null = null;
  /** Address of its attempt, and the period of that circuit breaker. */
  address: ApiAddress | null = null;
  period = 0;
  attemptedAt = 0;
  retries = 0;
  /** Attempts that followed at once at another address. */
  hops = 0;
  hasSetClock = false;

  constructor(request: ApiRequest, isRepeatable: boolean, trace: CallTrace) {
    super(request);
    this.isRepeatable = isRepeatable;
    this.trace = trace;
  }

  ended(outcome: Outcome, stalledMs: number, told: ServerTiming | null): void {
    this.client?.attemptEnded(this, outcome, stalledMs, told);
  }

  failed(error: unknown): void {
    this.client?.attemptFailed(this, error);
  }

  /** Lets another call begin in its place, although it goes on waiting for an answer. */
  abstract leavePlace(): void;
  /** Exactly once. */
  abstract settle(result: Result): void;
  /** In place of `settle`: a fault of our own. */
  abstract fault(error: unknown): void;
}
