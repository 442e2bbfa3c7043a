import type { IncomingMessage } from 'node:http';
import { networkOf } from '../security/addresses.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { UnfinishedBodies } from './unfinished-bodies.ts';

/** `tooLarge` once more than `maxBytes` have come or are announced, `tooMany` if the body made room for others. */
export type Body = Buffer | 'tooLarge' | 'tooMany';

export interface Sender {
  readonly address: string;
  /** No request of this connection had a right signature so far. */
  readonly isStranger: boolean;
}

/** Reads bodies up to a size each, and all that are under way up to a multiple of it. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #unfinished: UnfinishedBodies;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#unfinished = new UnfinishedBodies(maxBytes);
  }

  /** Calls `take` once, or never if the connection ends first. Reads and discards the rest of a refused body. */
  read(request: IncomingMessage, { address, isStranger }: Sender, take: (body: Body) => void): void {
    if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) {
      request.resume();
      take('tooLarge');
      return;
    }
    let buffer = new GrowingBuffer();
    const refuse = (reason: 'tooLarge' | 'tooMany') => {
      this.#unfinished.remove(body);
      buffer = new GrowingBuffer();
      take(reason);
    };
    const body = { network: networkOf(address), isStranger, bytes: 0, refuse: () => refuse('tooMany') };
    this.#unfinished.add(body);
    request.on('data', (chunk: Buffer) => {
      if (!this.#unfinished.has(body)) return;
      buffer.append(chunk);
      if (buffer.length > this.#maxBytes) refuse('tooLarge');
      else this.#unfinished.grow(body, chunk.length);
    });
    request.on('end', () => {
      if (this.#unfinished.remove(body)) take(buffer.bytes());
    });
    request.on('error', () => this.#unfinished.remove(body));
    request.on('close', () => this.#unfinished.remove(body));
  }
}
