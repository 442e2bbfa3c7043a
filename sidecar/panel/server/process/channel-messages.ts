import { StringDecoder } from 'node:string_decoder';

/** Twice the size of a message with 2000 bundles. */
const MAX_MESSAGE_CHARS = 1_048_576;

/**
 * Reads messages from the bytes of the channel, one JSON text per line. Foreign scripts can write there: a line that is too
 * long is dropped as it arrives, and so is a line that is not JSON.
 */
export class ChannelMessages {
  readonly #onMessage: (message: unknown) => void;
  readonly #maxChars: number;
  readonly #decoder = new StringDecoder('utf8');
  #pending = '';
  /** The rest of the line is dropped too. */
  #isTooLong = false;

  constructor(onMessage: (message: unknown) => void, maxChars = MAX_MESSAGE_CHARS) {
    this.#onMessage = onMessage;
    this.#maxChars = maxChars;
  }

  /** Returns the number of lines that have ended. */
  write(bytes: Buffer): number {
    const [first = '', ...others] = this.#decoder.write(bytes).split('\n');
    this.#extend(first);
    for (const piece of others) {
      this.#endLine();
      this.#extend(piece);
    }
    return others.length;
  }

  #extend(piece: string): void {
    if (this.#pending.length + piece.length > this.#maxChars) this.#isTooLong = true;
    this.#pending = this.#isTooLong ? '' : this.#pending + piece;
  }

  #endLine(): void {
    const line = this.#isTooLong ? '' : this.#pending;
    this.#pending = '';
    this.#isTooLong = false;
    const message = parsed(line);
    if (message !== undefined) this.#onMessage(message);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
