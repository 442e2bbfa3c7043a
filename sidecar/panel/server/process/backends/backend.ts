import type { GameProcess, Launch } from '../game-process.ts';

/** What a server says of itself when it is asked. */
export interface Health {
  /** null: it does not tell. */
  readonly players: number | null;
  readonly resources: readonly string[] | null;
}

/** How long a server has given no sign of life, and how long it may. */
export interface Silence {
  readonly silentMs: number;
  readonly hangMs: number;
}

/** What differs between the kinds of servers. Made anew for each run, from the settings as they are then. */
export interface ServerBackend {
  /** @throws LaunchError where it cannot be started as it is configured */
  launch(): Launch;
  /** Typed to stop it if the settings have no stop line; empty: there is nothing to type. */
  readonly defaultStopLine: string;
  /** What tells that it has started: that the process lives, that it prints, that it answers. */
  readonly isUpAt: 'process' | 'line' | 'answer';
  /** Asks whether it is well; null where nothing of the kind can be asked. Rejects where it does not answer. */
  readonly ask: ((process: GameProcess, signal: AbortSignal, silence: Silence) => Promise<Health>) | null;
  /** Takes what the server says over its channel. */
  readonly take?: (message: unknown) => void;
}

/** For the owner, in one line: starting it again would not help. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
