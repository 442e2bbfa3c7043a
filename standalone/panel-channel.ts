import type { Bundle } from './bundle.ts';

/** What is told at once is told together. */
const GATHER_MS = 20;

/** The two ends that this needs of `process`. */
export interface Channel {
  readonly connected?: boolean;
  send?: ((message: unknown, callback: (error: Error | null) => void) => boolean) | undefined;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/**
 * Where a panel has started this server there is a channel (IPC) beside the console: it is told how the bundles are doing, and a
 * ping that comes over it is answered, both without a line on the console. Without one this does nothing.
 */
export class PanelChannel {
  readonly #channel: Channel;
  readonly #bundles: () => readonly Bundle[];
  #gathering: NodeJS.Timeout | undefined;

  constructor(channel: Channel, bundles: () => readonly Bundle[]) {
    this.#channel = channel;
    this.#bundles = bundles;
    if (channel.send === undefined) return;
    channel.on('message', (message) => this.#answer(message));
  }

  /** A bundle has changed its state, or there are others. */
  bundlesChanged(): void {
    if (this.#channel.send === undefined) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#send({ type: 'bundles', bundles: this.#bundles().map(described) });
    }, GATHER_MS).unref();
  }

  #answer(message: unknown): void {
    const { type, id } = (message ?? {}) as { type?: unknown; id?: unknown };
    if (type === 'ping' && typeof id === 'number') this.#send({ type: 'pong', id });
  }

  /** A panel that has gone is none of the game's business. */
  #send(message: object): void {
    if (this.#channel.connected) this.#channel.send?.(message, () => {});
  }
}

function described({ name, manifest, state }: Bundle): object {
  const { version = '', description = '', dependencies = [], tags = [], autostart = false } = manifest ?? {};
  return { name, state, version, description, dependencies, tags, autostart };
}
