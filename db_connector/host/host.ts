import type { ByteForm } from '../calls/records.ts';
import type { Command } from '../commands/command.ts';

/** What the connector needs of the game server that it runs in. One adapter a host, found by `detect.ts`. */
export interface Host {
  /** Absolute path of `database.json`. */
  readonly configFile: string;
  /** How this host carries MessagePack bytes through exports. */
  readonly bytes: ByteForm;
  /** The secret from the host's protected store; undefined where it has none, or holds none. */
  storedSecret(): string | undefined;
  /** @param run gets the bundle that calls, where the host tells */
  registerExport(name: string, run: (question: unknown, caller: string | undefined) => unknown): void;
  registerCommand(command: Command): void;
  /** One console line. */
  log(line: string): void;
}
