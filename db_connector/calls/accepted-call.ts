import { ApiCall } from '../client/api-call.ts';
import { CallTrace } from '../client/call-trace.ts';
import type { Result } from '../client/outcome.ts';
import { randomId } from '../client/random-id.ts';
import type { CheckedCall } from './call-checks.ts';
import type { QueuedCall } from './call-queue.ts';

/** The connector, as its calls see it. */
interface CallOwner {
  begin(call: AcceptedCall): void;
  leavePlace(call: AcceptedCall): void;
  settle(call: AcceptedCall, result: Result): void;
  drop(call: AcceptedCall): void;
  fault(call: AcceptedCall, error: unknown): void;
}

/** A call with a ticket: its record from `Call` to its result. */
export class AcceptedCall extends ApiCall implements QueuedCall {
  /** Id of the ticket. */
  readonly id = randomId();
  readonly call: CheckedCall;
  readonly caller: string | null;
  /** It was accepted while this server's own sidecar was starting, so its long duration is expected. */
  readonly wasHeld: boolean;
  readonly waitsForOthers: boolean;
  freePlace: (() => void) | null = null;
  hasPlace = false;
  readonly #owner: CallOwner;

  /** @param caller null if the host does not name it */
  constructor(owner: CallOwner, call: CheckedCall, caller: string | null, now: number, wasHeld: boolean) {
    super(call, call.isRepeatable, new CallTrace(now));
    this.#owner = owner;
    this.call = call;
    this.caller = caller;
    this.wasHeld = wasHeld;
    this.waitsForOthers = call.waitsForOthers;
  }

  run(): void {
    this.#owner.begin(this);
  }

  drop(): void {
    this.#owner.drop(this);
  }

  leavePlace(): void {
    this.#owner.leavePlace(this);
  }

  settle(result: Result): void {
    this.#owner.settle(this, result);
  }

  fault(error: unknown): void {
    this.#owner.fault(this, error);
  }
}
