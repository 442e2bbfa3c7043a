import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { PanelError } from '../panel-error.ts';

const MOST_JSON_BYTES = 1024 * 1024;
/** Bodies of the full size that may be under way at the same time. */
const MOST_FULL_BODIES = 16;
const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset[ \t]*=[ \t]*("utf-8"|utf-8)[ \t]*)?$/i;

interface OpenBody {
  bytes: number;
  readonly refuse: (error: PanelError) => void;
}

/**
 * Reads JSON bodies, up to a size each and all together: who sends them may have no account yet. Where all together are too
 * much the largest goes, so that nobody who holds large ones back keeps others from signing in.
 */
export class BodyReader {
  readonly #open = new Set<OpenBody>();
  #bytesOfAll = 0;

  /** The text of the body; empty where none is sent, which only a route that `isOptional` lets pass. @throws PanelError */
  async read(request: IncomingMessage, isOptional: boolean): Promise<string> {
    checkType(request, isOptional);
    if (Number(request.headers['content-length'] ?? 0) > MOST_JSON_BYTES) throw new PanelError('body.large');
    const body = await this.#collect(request);
    if (!isUtf8(body)) throw new PanelError('body.malformed', { detail: 'expected UTF-8' });
    return body.toString('utf8');
  }

  #collect(request: IncomingMessage): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      const release = () => {
        if (this.#open.delete(body)) this.#bytesOfAll -= body.bytes;
        chunks = [];
      };
      const refuse = (error: PanelError) => {
        request.removeAllListeners('data');
        release();
        reject(error);
      };
      const body: OpenBody = { bytes: 0, refuse };
      this.#open.add(body);
      request.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        this.#take(body, chunk.length);
      });
      request.on('end', () => {
        const whole = Buffer.concat(chunks);
        release();
        resolve(whole);
      });
      request.on('close', () => refuse(new PanelError('body.malformed', { detail: 'the body ended too early' })));
    });
  }

  #take(body: OpenBody, bytes: number): void {
    body.bytes += bytes;
    this.#bytesOfAll += bytes;
    if (body.bytes > MOST_JSON_BYTES) body.refuse(new PanelError('body.large'));
    if (this.#bytesOfAll <= MOST_JSON_BYTES * MOST_FULL_BODIES) return;
    const largest = [...this.#open].reduce((most, one) => (one.bytes > most.bytes ? one : most));
    largest.refuse(new PanelError('rate.limited', { retryAfterSeconds: 1 }));
  }
}

/** No body needs no type; a body of another type is refused whatever it holds, since a form of another site can send it. */
function checkType({ headers }: IncomingMessage, isOptional: boolean): void {
  const type = headers['content-type'];
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (isOptional && type === undefined && isEmpty) return;
  const isPlain = headers['content-encoding'] === undefined || headers['content-encoding'] === 'identity';
  if (type === undefined || !JSON_TYPE.test(type) || !isPlain) throw new PanelError('body.type');
}
