import type { FxResourceLine } from '#panel/console/fx-lines.ts';
import type { GameProcess, Launch } from '../game-process.ts';

/** Answer of a server to a health check. */
export interface Health {
  /** null: the server does not report them. */
  readonly players: number | null;
  readonly resources: readonly string[] | null;
}

/** Time without a sign of life, and the limit after which the server hangs. */
export interface Silence {
  readonly silentMs: number;
  readonly hangMs: number;
}

/** Differences between the kinds of servers. Created for each run from the settings of that moment. */
export interface ServerBackend {
  /** @throws LaunchError if the configuration does not allow a start */
  launch(): Launch;
  /** Stop line if the settings have none; empty: no line is typed. */
  readonly defaultStopLine: string;
  /** Sign that the server is up: its process lives, it prints a line, or it answers. */
  readonly isUpAt: 'process' | 'line' | 'answer';
  /** Health check; rejects if the server does not answer. null: this kind has none. */
  readonly ask: ((process: GameProcess, signal: AbortSignal, silence: Silence) => Promise<Health>) | null;
  /** Tells the server that folders of bundles have come or gone. Absent: it finds out by itself, or never. */
  readonly reread?: (process: GameProcess) => void;
  /** Reads a line of the console for a bundle that starts or stops. Absent: this kind reports its bundles elsewhere, or never. */
  readonly readLine?: (text: string) => FxResourceLine | null;
  /** Takes a message of the server's channel. */
  readonly take?: (message: unknown) => void;
}

/** Message in one line for the owner; another start would fail too. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
