import { join } from 'node:path';
import { isRecord } from '#panel/is-record.ts';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import type { BundleInfo, BundleState } from '#panel/shapes/bundles.ts';
import { CHANNEL_FD, type GameProcess } from '../game-process.ts';
import { type Health, LaunchError, type ServerBackend } from './backend.ts';
import { existingFolder } from './command.ts';

/**
 * Bounds of the standalone server's messages (`standalone/panel-channel.ts`). Scripts run in its process and can write
 * anything to the channel, so messages are read by their shape and within these bounds.
 */
const MAX_BUNDLES = 2000;
const MAX_TEXT_CHARS = 2000;
const MAX_LIST = 200;
const STATES: readonly string[] = ['stopped', 'starting', 'started', 'failed'] satisfies BundleState[];

export interface StandalonePlace {
  /** Path of `main.js`; null if this sidecar is shipped without it. */
  readonly program: string | null;
  /** Configuration folder; null: `vfs` in the server's folder. */
  readonly vfs: string | null;
}

/** The standalone server: reports its bundles, and answers pings, over a channel beside its console. */
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
    reread: (process) => process.send({ type: 'reread' }),
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

  /** Rejects if the signal is aborted before the answer. */
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

/** null for any other message. */
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
