import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { CHANNEL_FD, type GameProcess } from '../spawn.ts';
import { type Health, LaunchError, type ServerBackend } from './backend.ts';
import { existingFolder } from './command.ts';
import { readBundlesMessage, readPong } from './standalone-messages.ts';

const STOP_LINE = 'quit';

export interface StandalonePlace {
  /** Of the program `main.js`; null where this sidecar came without one. */
  readonly program: string | null;
  /** Its configuration; null: `vfs` in the server's folder. */
  readonly vfs: string | null;
}

/** In the built sidecar's folder (as its package has it), beside it, or above its sources. */
export function findStandaloneProgram(): string | null {
  const places = ['./standalone/main.js', '../standalone/main.js', '../../../../../standalone/main.ts'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile()) ?? null;
}

/** The server that is shipped here: it tells its bundles, and answers a ping, over a channel beside its console. */
export function standaloneBackend(
  settings: SettingValues,
  place: StandalonePlace,
  onBundles: (bundles: readonly BundleInfo[]) => void,
): ServerBackend {
  const pings = new Pings();
  return {
    launch() {
      if (place.program === null) throw new LaunchError('the standalone server is not among the files of this sidecar');
      const folder = existingFolder(settings.serverRoot);
      const vfs = place.vfs ?? join(folder, 'vfs');
      const args = [place.program, '--root', folder, '--vfs', vfs, '--panel-channel', String(CHANNEL_FD)];
      return { command: process.execPath, args, folder, hasChannel: true };
    },
    stopLine: ({ stopLine }) => stopLine || STOP_LINE,
    isUpAt: 'line',
    ask: (process, signal) => pings.send(process, signal),
    take(message) {
      const id = readPong(message);
      if (id !== null) pings.answered(id);
      const bundles = readBundlesMessage(message);
      if (bundles !== null) onBundles(bundles);
    },
  };
}

const WELL: Health = { players: null, resources: null };

class Pings {
  readonly #waiting = new Map<number, () => void>();
  #last = 0;

  /** Rejects when the signal is aborted first. */
  send(process: GameProcess, signal: AbortSignal): Promise<Health> {
    this.#last += 1;
    const id = this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<Health>();
    const giveUp = () => {
      this.#waiting.delete(id);
      reject(new Error('it does not answer'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.set(id, () => {
      signal.removeEventListener('abort', giveUp);
      resolve(WELL);
    });
    process.send({ type: 'ping', id });
    return promise;
  }

  answered(id: number): void {
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }
}
