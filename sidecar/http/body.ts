import type { IncomingMessage } from 'node:http';
import { networkOf } from '../security/addresses.ts';

/** Bodies of the full size that may be under way at the same time; more is an attack, not a game. */
const MAX_FULL_BODIES = 16;
/** The same for the strangers of one network. */
const MAX_FULL_BODIES_OF_STRANGERS = 8;

/**
 * `tooLarge`: more bytes were sent or announced than one body may have. `tooMany`: the body made room for others. `cutOff`: the
 * connection ended first.
 */
export type Body = Buffer | 'tooLarge' | 'tooMany' | 'cutOff';

export interface Sender {
  readonly address: string;
  /** Not authenticated so far. */
  readonly isStranger: boolean;
}

interface UnfinishedBody {
  /** As `networkOf` returns it. */
  readonly network: string;
  readonly isStranger: boolean;
  readonly resolve: (body: Body) => void;
  /** Content in its first `length` bytes; none of a counted message. */
  bytes: Buffer;
  length: number;
}

/** A message under way on another transport. */
export interface CountedMessage {
  add(bytes: number): void;
  /** It has arrived, or its connection is gone. */
  end(): void;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Reads bodies up to a size each. Bounds all unfinished bodies together, and those of the strangers of one network: beyond a
 * bound the largest unfinished body is refused, a stranger's before any other.
 */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #unfinished = new Set<UnfinishedBody>();
  readonly #bytesOfStrangers = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Reads and discards the rest of a refused body. */
  read(request: IncomingMessage, { address, isStranger }: Sender): Promise<Body> {
    if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) {
      request.resume();
      return Promise.resolve('tooLarge');
    }
    return new Promise((resolve) => {
      const body = this.#begin({ address, isStranger }, resolve);
      request.on('data', (chunk: Buffer) => this.#append(body, chunk));
      request.on('end', () => this.#finish(body, body.bytes.subarray(0, body.length)));
      request.on('error', () => this.#finish(body, 'cutOff'));
      request.on('close', () => this.#finish(body, 'cutOff'));
    });
  }

  /** Counts a message that another transport reads. `refuse` is called if it must make room for others. */
  count(sender: Sender, refuse: () => void): CountedMessage {
    const message = this.#begin(sender, refuse);
    return {
      add: (bytes) => {
        if (!this.#unfinished.has(message)) return;
        message.length += bytes;
        this.#count(message, bytes);
        this.#makeRoom(message.network);
      },
      end: () => {
        if (this.#unfinished.delete(message)) this.#count(message, -message.length);
      },
    };
  }

  #begin({ address, isStranger }: Sender, resolve: (body: Body) => void): UnfinishedBody {
    const body = { network: networkOf(address), isStranger, resolve, bytes: NO_BYTES, length: 0 };
    this.#unfinished.add(body);
    return body;
  }

  #append(body: UnfinishedBody, chunk: Buffer): void {
    if (!this.#unfinished.has(body)) return;
    append(body, chunk);
    this.#count(body, chunk.length);
    if (body.length > this.#maxBytes) this.#finish(body, 'tooLarge');
    else this.#makeRoom(body.network);
  }

  /** Does nothing if the body was finished before. */
  #finish(body: UnfinishedBody, outcome: Body): void {
    if (!this.#unfinished.delete(body)) return;
    this.#count(body, -body.length);
    // The request may live on for long.
    body.bytes = NO_BYTES;
    body.resolve(outcome);
  }

  #makeRoom(network: string): void {
    while ((this.#bytesOfStrangers.get(network) ?? 0) > MAX_FULL_BODIES_OF_STRANGERS * this.#maxBytes) {
      this.#refuseLargest((body) => body.isStranger && body.network === network);
    }
    while (this.#bytes > MAX_FULL_BODIES * this.#maxBytes) {
      this.#refuseLargest((body) => body.isStranger) || this.#refuseLargest(() => true);
    }
  }

  #count({ isStranger, network }: UnfinishedBody, bytes: number): void {
    this.#bytes += bytes;
    if (!isStranger) return;
    const sum = (this.#bytesOfStrangers.get(network) ?? 0) + bytes;
    if (sum === 0) this.#bytesOfStrangers.delete(network);
    else this.#bytesOfStrangers.set(network, sum);
  }

  /** False if no body with a byte matches. */
  #refuseLargest(matches: (body: UnfinishedBody) => boolean): boolean {
    let largest: UnfinishedBody | undefined;
    for (const body of this.#unfinished) {
      if (body.length > (largest?.length ?? 0) && matches(body)) largest = body;
    }
    if (largest === undefined) return false;
    this.#finish(largest, 'tooMany');
    return true;
  }
}

/** Joins chunks as they arrive: many small ones take at most twice the memory of their bytes. */
function append(body: UnfinishedBody, chunk: Buffer): void {
  const length = body.length + chunk.length;
  if (body.length === 0) {
    body.bytes = chunk;
  } else {
    if (length > body.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(2 * length);
      body.bytes.copy(grown, 0, 0, body.length);
      body.bytes = grown;
    }
    chunk.copy(body.bytes, body.length);
  }
  body.length = length;
}

const MAX_TYPE_CHARACTERS = 256;
const UTF8 = /^(?:utf-8|"utf-8")$/;

/**
 * Whether a Content-Type is `application/json`, optionally in UTF-8 and with a semicolon at its end (contract section 3.2).
 * Linear, as the caller is not authenticated.
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined || contentType.length > MAX_TYPE_CHARACTERS) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(';').map(trimBlanks);
  // A semicolon at the end.
  if (parameters.at(-1) === '') parameters.pop();
  return type === 'application/json' && parameters.length <= 1 && parameters.every(isUtf8Charset);
}

function isUtf8Charset(parameter: string): boolean {
  const [name = '', value = '', ...rest] = parameter.split('=').map(trimBlanks);
  return name === 'charset' && UTF8.test(value) && rest.length === 0;
}

/** Blanks as HTTP knows them; `trim` would also remove a no-break space. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}
