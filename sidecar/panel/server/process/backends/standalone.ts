import { join } from 'node:path';
import { isRecord } from '#panel/is-record.ts';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import type { BundleInfo, BundleState } from '#panel/shapes/bundles.ts';
import { CHANNEL_FD, type GameProcess } from '../game-process.ts';
import { type Health, LaunchError, type ServerBackend } from './backend.ts';
import { existingFolder } from './command.ts';

/**
 * What the standalone server says over its channel (`standalone/panel-channel.ts`). Scripts run in its process and can say
 * anything there, so it is taken only in its shape, and only so much of it.
 */
const MAX_BUNDLES = 2000;
const MAX_TEXT_CHARS = 2000;
const MAX_LIST = 200;
const STATES: readonly string[] = ['stopped', 'starting', 'started', 'failed'] satisfies BundleState[];

export interface StandalonePlace {
  /** Of the program `main.js`; null where this sidecar came without one. */
  readonly program: string | null;
  /** Its configuration; null: `vfs` in the server's folder. */
  readonly vfs: string | null;
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
    defaultStopLine: 'quit',
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

export function readPong(message: unknown): number | null {
  return isRecord(message) && message.type === 'pong' && typeof message.id === 'number' ? message.id : null;
}

/** null where it is another message, or none that this can be made of. */
export function readBundlesMessage(message: unknown): BundleInfo[] | null {
  if (!isRecord(message) || message.type !== 'bundles' || !Array.isArray(message.bundles)) return null;
  return message.bundles.slice(0, MAX_BUNDLES).flatMap((bundle) => readBundle(bundle) ?? []);
}

function readBundle(value: unknown): BundleInfo | null {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return null;
  return {
    name: text(value.name),
    version: text(value.version),
    description: text(value.description),
    state: typeof value.state === 'string' && STATES.includes(value.state) ? (value.state as BundleState) : 'unknown',
    dependencies: texts(value.dependencies),
    tags: texts(value.tags),
    autostart: value.autostart === true,
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST).map(text) : [];
}
