import type { Duplex } from 'node:stream';
import { ChannelMessages } from '#panel/server/process/channel-messages.ts';

/** A message of the game server with what the keeper adds to it. */
const MAX_MESSAGE_CHARS = 4_194_304;

export interface ChannelReader<Incoming> {
  readonly onMessage: (message: Incoming) => void;
  readonly onClose: () => void;
}

/** An end of the channel between keeper and sidecar: a JSON text a line. Both ends are programs of this project. */
export class MessageChannel<Incoming, Outgoing extends object> {
  readonly #stream: Duplex;

  constructor(stream: Duplex, { onMessage, onClose }: ChannelReader<Incoming>) {
    this.#stream = stream;
    const messages = new ChannelMessages((message) => onMessage(message as Incoming), MAX_MESSAGE_CHARS);
    stream.on('data', (bytes: Buffer) => void messages.write(bytes));
    stream.on('error', () => {});
    stream.once('close', onClose);
  }

  send(message: Outgoing): void {
    if (this.#stream.writable) this.#stream.write(`${JSON.stringify(message)}\n`);
  }

  /** Resolves when the messages so far have left this process, or never will. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#stream.writable) resolve();
      else this.#stream.write('', () => resolve());
    });
  }

  close(): void {
    this.#stream.destroy();
  }
}
