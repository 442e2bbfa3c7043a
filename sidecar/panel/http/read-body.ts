import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { PanelError } from '../panel-error.ts';

const MOST_JSON_BYTES = 1024 * 1024;
/** Bodies of the full size that may be under way at the same time. */
const MOST_FULL_BODIES = 16;
const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset[ \t]*=[ \t]*("utf-8"|utf-8)[ \t]*)?$/i;

/** Reads JSON bodies, up to a size each and all together: who sends them may have no account yet. */
export class BodyReader {
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
      let bytes = 0;
      const release = () => {
        this.#bytesOfAll -= bytes;
        bytes = 0;
        chunks = [];
      };
      const refuse = (error: PanelError) => {
        request.removeAllListeners('data');
        release();
        reject(error);
      };
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        this.#bytesOfAll += chunk.length;
        chunks.push(chunk);
        if (bytes > MOST_JSON_BYTES) refuse(new PanelError('body.large'));
        else if (this.#bytesOfAll > MOST_JSON_BYTES * MOST_FULL_BODIES)
          refuse(new PanelError('rate.limited', { retryAfterSeconds: 1 }));
      });
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        release();
        resolve(body);
      });
      request.on('close', () => refuse(new PanelError('body.malformed', { detail: 'the body ended too early' })));
    });
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
