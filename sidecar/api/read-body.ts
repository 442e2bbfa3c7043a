import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** `tooLarge` once more than `maxBytes` have come or are announced, `tooMany` where others already wait with as much. */
export type Body = Buffer | 'tooLarge' | 'tooMany';

/** Bodies of the full size that may be under way at the same time; more is an attack, not a game. */
const MOST_FULL_BODIES = 16;

/** Reads bodies up to a size, and all that are under way together up to a multiple of it: senders are not yet known. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #maxBytesOfAll: number;
  #bytesOfAll = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#maxBytesOfAll = maxBytes * MOST_FULL_BODIES;
  }

  /** Calls `take` once, or never where the connection ends first. What follows a refusal is read and thrown away. */
  read(request: IncomingMessage, take: (body: Body) => void): void {
    if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) {
      request.resume();
      take('tooLarge');
      return;
    }
    let chunks: Buffer[] = [];
    let bytes = 0;
    let isOpen = true;
    /** True the first time: the body is over, one way or the other. */
    const end = () => {
      const wasOpen = isOpen;
      isOpen = false;
      this.#bytesOfAll -= bytes;
      bytes = 0;
      return wasOpen;
    };
    request.on('data', (chunk: Buffer) => {
      if (!isOpen) return;
      bytes += chunk.length;
      this.#bytesOfAll += chunk.length;
      chunks.push(chunk);
      const refusal = bytes > this.#maxBytes ? 'tooLarge' : this.#bytesOfAll > this.#maxBytesOfAll ? 'tooMany' : null;
      if (refusal === null) return;
      end();
      chunks = [];
      take(refusal);
    });
    request.on('end', () => {
      if (end()) take(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on('error', end);
    request.on('close', end);
  }
}

/** The body as text; null for a byte order mark or bytes that are not UTF-8. */
export function decodeBody(body: Buffer): string | null {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return hasMark || !isUtf8(body) ? null : body.toString('utf8');
}
