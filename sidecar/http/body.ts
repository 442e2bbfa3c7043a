import type { IncomingMessage } from 'node:http';
import { networkOf } from '../security/addresses.ts';

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

/** Bodies of the full size that may be under way at the same time; more is an attack, not a game. */
const MAX_FULL_BODIES = 16;
/** The same for the strangers of one network. */
const MAX_FULL_BODIES_OF_STRANGERS = 8;

export interface UnfinishedBody {
  /** As `networkOf` returns it. */
  readonly network: string;
  /** No request of the connection had a right signature so far. */
  readonly isStranger: boolean;
  bytes: number;
  /** Removes the body and answers its request. */
  readonly refuse: () => void;
}

/**
 * The bodies under way, bounded together, and for the strangers of one network. Beyond a bound the largest unfinished body is
 * refused: a body of a stranger before any other.
 */
export class UnfinishedBodies {
  readonly #maxBytes: number;
  readonly #maxBytesOfStrangers: number;
  readonly #bodies = new Set<UnfinishedBody>();
  readonly #bytesOfStrangers = new Map<string, number>();
  #bytes = 0;

  /** @param fullBytes the size of the largest body */
  constructor(fullBytes: number) {
    this.#maxBytes = fullBytes * MAX_FULL_BODIES;
    this.#maxBytesOfStrangers = fullBytes * MAX_FULL_BODIES_OF_STRANGERS;
  }

  has(body: UnfinishedBody): boolean {
    return this.#bodies.has(body);
  }

  add(body: UnfinishedBody): void {
    this.#bodies.add(body);
  }

  /** Refuses bodies, this one included, until the others fit. */
  grow(body: UnfinishedBody, bytes: number): void {
    body.bytes += bytes;
    this.#count(body, bytes);
    const { network } = body;
    while ((this.#bytesOfStrangers.get(network) ?? 0) > this.#maxBytesOfStrangers) {
      this.#largest((other) => other.isStranger && other.network === network)?.refuse();
    }
    while (this.#bytes > this.#maxBytes) {
      (this.#largest((other) => other.isStranger) ?? this.#largest(() => true))?.refuse();
    }
  }

  /** False if it was removed before. */
  remove(body: UnfinishedBody): boolean {
    if (!this.#bodies.delete(body)) return false;
    this.#count(body, -body.bytes);
    return true;
  }

  #count({ isStranger, network }: UnfinishedBody, bytes: number): void {
    this.#bytes += bytes;
    if (!isStranger) return;
    const sum = (this.#bytesOfStrangers.get(network) ?? 0) + bytes;
    if (sum === 0) this.#bytesOfStrangers.delete(network);
    else this.#bytesOfStrangers.set(network, sum);
  }

  /** Undefined if no body with a byte matches. */
  #largest(matches: (body: UnfinishedBody) => boolean): UnfinishedBody | undefined {
    let largest: UnfinishedBody | undefined;
    for (const body of this.#bodies) {
      if (body.bytes > (largest?.bytes ?? 0) && matches(body)) largest = body;
    }
    return largest;
  }
}

/** Chunks joined as they come: many small ones take no more memory than their bytes, up to twice. */
export class GrowingBuffer {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) this.#grow(length);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** Shares the memory. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const next = Buffer.allocUnsafeSlow(2 * length);
    this.#bytes.copy(next, 0, 0, this.#length);
    this.#bytes = next;
  }
}

const MAX_CHARACTERS = 256;
const UTF8 = /^(?:utf-8|"utf-8")$/;

/**
 * Whether a Content-Type is `application/json`, optionally in UTF-8 and with a semicolon at its end (contract section 3.2).
 * Linear, as the caller is not authenticated.
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined || contentType.length > MAX_CHARACTERS) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(';').map(trimBlanks);
  // A semicolon at the end.
  if (parameters.at(-1) === '') parameters.pop();
  return type === 'application/json' && parameters.length <= 1 && parameters.every(isUtf8Charset);
}

function isUtf8Charset(parameter: string): boolean {
  const [name = '', value = '', ...rest] = parameter.split('=').map(trimBlanks);
  return name === 'charset' && UTF8.test(value) && rest.length === 0;
}

/** Blanks as HTTP knows them; `trim` would also take a no-break space. */
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
