import type { ByteForm } from '../calls/records.ts';
import type { Command } from '../commands/command.ts';
import type { ConfigurationFiles } from '../config/configuration.ts';
import type { Say } from '../config/say.ts';
import type { EmbeddedPlace } from '../embedded/embedded-place.ts';
import type { WorkerPlace } from '../worker/worker-place.ts';

/** Functions of the game server that the connector needs. One adapter a host, found by `detect.ts`. */
export interface Host extends ConfigurationFiles {
  /** Path of `database.json`, as `readFile` takes it. */
  readonly configFile: string;
  /** Place in which the connector may run a sidecar of its own. */
  readonly embedded: EmbeddedPlace;
  /** How the connector may run a thread of its own. */
  readonly worker: WorkerPlace;
  /** How an owner allows network connections, if the server's permission model refuses them. */
  readonly networkHint: string;
  /** How this host carries MessagePack bytes through exports. */
  readonly bytes: ByteForm;
  /** The secret from the host's protected store; undefined if it has none, or holds none. */
  storedSecret(): string | undefined;
  /** @param run gets the bundle that calls, if the host names it */
  registerExport(name: string, run: (question: unknown, caller: string | undefined) => unknown): void;
  registerCommand(command: Command): void;
  /** A console line. */
  readonly log: Say;
  /** Tells of other bundles that stop, by the name that `registerExport` gives for them. */
  onCallerStopped(run: (caller: string) => void): void;
  /** Reports that the whole server will stop in so many milliseconds, if the host announces that. */
  onShutdown(run: (delayMs: number) => void): void;
  /** Tells that this bundle stops; `run` cannot be waited for. A host that calls what `start` returned does nothing here. */
  onStop(run: () => void): void;
}
