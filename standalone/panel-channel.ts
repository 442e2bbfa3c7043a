import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import type { Bundle } from './bundle.ts';

/** Messages within this time are sent together. */
const GATHER_MS = 20;
/** The panel drops a longer line. */
const MAX_LINE_CHARS = 1_048_576;
/** Longest text of a bundle that is told. */
const MAX_TEXT_CHARS = 500;
const MAX_LIST = 50;

/** The channel at the file descriptor that the panel names. It does not keep the process alive. */
export function openChannel(fd: number): Duplex {
  return new Socket({ fd, readable: true, writable: true }).unref();
}

/**
 * If a panel has started this server there is a channel beside the console, with a JSON text a line: it carries the state
 * of the bundles, a ping that comes over it is answered, and `reread` looks for other folders, all without a line on the
 * console. Without a channel (null) this does nothing.
 */
export class PanelChannel {
  readonly #channel: Duplex | null;
  readonly #bundles: () => readonly Bundle[];
  readonly #reread: () => void;
  #gathering: NodeJS.Timeout | undefined;
  #isFull = false;

  /** @param reread called when the panel has changed the folder of the bundles */
  constructor(channel: Duplex | null, bundles: () => readonly Bundle[], reread: () => void = () => {}) {
    this.#channel = channel;
    this.#bundles = bundles;
    this.#reread = reread;
    if (channel === null) return;
    // A panel that has gone is none of the game's business.
    channel.on('error', () => {});
    channel.on('drain', () => this.#drained());
    createInterface({ input: channel, terminal: false }).on('line', (line) => this.#answer(line));
  }

  /** A bundle has changed its state, or there are others. */
  bundlesChanged(): void {
    if (this.#channel === null) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#tellBundles();
    }, GATHER_MS).unref();
  }

  #tellBundles(): void {
    this.#isFull = this.#channel?.writableNeedDrain === true;
    if (this.#isFull) return;
    const bundles = this.#bundles();
    const line = JSON.stringify({ type: 'bundles', bundles: bundles.map(described) });
    const isShort = line.length <= MAX_LINE_CHARS;
    this.#write(isShort ? line : JSON.stringify({ type: 'bundles', bundles: bundles.map(named) }));
  }

  /** The panel reads again: it is told the newest. */
  #drained(): void {
    if (this.#isFull) this.#tellBundles();
  }

  #answer(line: string): void {
    try {
      const { type, id } = JSON.parse(line) as { type?: unknown; id?: unknown };
      if (type === 'reread') this.#reread();
      if (type === 'ping' && typeof id === 'number') this.#write(JSON.stringify({ type: 'pong', id }));
    } catch {
      // No message of a panel.
    }
  }

  #write(line: string): void {
    if (this.#channel?.writable === true) this.#channel.write(`${line}\n`);
  }
}

function described(bundle: Bundle): object {
  const { version = '', description = '', dependencies = [], tags = [], autostart = false } = bundle.manifest ?? {};
  return {
    ...named(bundle),
    version: shortened(version),
    description: shortened(description),
    dependencies: dependencies.slice(0, MAX_LIST).map(shortened),
    tags: tags.slice(0, MAX_LIST).map(shortened),
    autostart,
  };
}

function named({ name, state }: Bundle): object {
  return { name: shortened(name), state };
}

function shortened(text: string): string {
  return text.slice(0, MAX_TEXT_CHARS);
}
