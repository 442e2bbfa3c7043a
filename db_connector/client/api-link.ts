import type { Attempt } from './attempt.ts';
import type { Transport } from './transport.ts';

/** `denied`: the host allows no threads. `restarting`: attempts are made in the game's thread until it runs again. */
export type WorkerState = 'running' | 'restarting' | 'denied' | 'off';

/** Way to one address of the API under one configuration: signs attempts, sends them, and judges their answers. */
export interface ApiLink {
  /** How calls go out now. */
  readonly transport: Transport['name'];
  /** Whether attempts are made in a thread of their own. */
  readonly worker: WorkerState;
  /** Resolves when attempts go out at once; null if they do from the beginning. */
  readonly ready: Promise<void> | null;
  /** Whether calls go there; only then it holds a stream open. The first of several addresses is chosen from the beginning. */
  setChosen(isChosen: boolean): void;
  /** Ends the attempt exactly once, with `ended` or `failed`. `ts` of the attempt is set. Never throws. */
  attempt(attempt: Attempt): void;
  /** Ends attempts whose ends wait in another thread. Without it they end a little later. */
  collect(): void;
  /** Ends an attempt that is under way there as one without answer. */
  abandon(attempt: Attempt): void;
  /** The Unix seconds that the API's public probe tells. @throws Error whose message says why there is no time */
  probe(): Promise<number>;
  /** Ends everything at once, sockets included. */
  destroy(): Promise<void>;
}
