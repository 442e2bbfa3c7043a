import { WebSocket } from 'ws';
import type { Envelope } from './signed-client.ts';

/** An answer as a POST would bring it, so that one suite judges both ways. */
export interface StreamAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface StreamClientOptions {
  /** `http://…`, `https://…` or `unix:/path`. */
  readonly address: string;
  readonly ca?: string;
  readonly headers?: Record<string, string>;
  readonly protocol?: string;
  /** Loopback address that the client has. */
  readonly localAddress?: string;
}

/** A frame of a call, written from docs/api.md: nothing of the product's codec is imported. */
export function callFrame(path: string, { kid, ts, nonce, payload, sig }: Envelope): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(Number(ts)));
  const body = Buffer.concat([
    Buffer.from([1]),
    ...[shortText(path), shortText(String(kid)), time, shortText(String(nonce))],
    Buffer.from(String(sig), 'base64url'),
    Buffer.from(String(payload)),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** Whether a frame can hold the envelope: most malformed ones exist as JSON only. */
export function fitsFrame({ v, kid, ts, nonce, payload, sig }: Envelope): boolean {
  const isHead = (text: unknown) => typeof text === 'string' && /^[\x20-\x7e]{0,255}$/.test(text);
  const isSignature = typeof sig === 'string' && Buffer.from(sig, 'base64url').toString('base64url') === sig;
  const isTime = Number.isInteger(ts) && Number(ts) >= 0;
  const isPayload = typeof payload === 'string' && payload.isWellFormed();
  return v === 1 && isHead(kid) && isHead(nonce) && isTime && isPayload && isSignature && sig.length === 43;
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
}

/** Answers of a message by nonce, as envelopes of a POST. */
export function readAnswers(message: Buffer): { nonce: string; answer: StreamAnswer }[] {
  const answers: { nonce: string; answer: StreamAnswer }[] = [];
  let at = 0;
  const take = (bytes: number) => {
    at += bytes;
    if (at > message.length) throw new Error('the message ends within a frame');
    return message.subarray(at - bytes, at);
  };
  const text = () => take(take(1).readUInt8()).toString('latin1');
  while (at < message.length) {
    const end = take(4).readUInt32BE() + at;
    if (take(1)[0] !== 2) throw new Error('not an answer');
    const nonce = text();
    const status = take(2).readUInt16BE();
    const flags = take(1).readUInt8();
    const code = text();
    const retryAfter = take(2).readUInt16BE();
    const [total, database] = [take(4).readFloatBE(), take(4).readFloatBE()];
    const sig = (flags & 2) === 0 ? undefined : take(32).toString('base64url');
    const payload = take(end - at).toString();
    const error = code === '' ? {} : { code };
    const envelope = { v: 1, ok: (flags & 1) === 1, status, ...error, payload, sig };
    const headers = {
      ...(retryAfter === 0 ? {} : { 'retry-after': String(retryAfter) }),
      ...(sig === undefined ? {} : { 'server-timing': `total;dur=${total.toFixed(1)}, db;dur=${database.toFixed(1)}` }),
    };
    answers.push({ nonce, answer: { status, headers, body: JSON.stringify(envelope) } });
  }
  return answers;
}

/** The upgrade was answered with something else. */
export class RefusedStream extends Error {
  readonly answer: StreamAnswer;

  constructor(answer: StreamAnswer) {
    super(`refused with ${answer.status}: ${answer.body}`);
    this.answer = answer;
  }
}

/** A stream by hand: whole messages in and out. */
export class StreamClient {
  readonly socket: WebSocket;
  readonly #waiting = new Map<string, ((answer: StreamAnswer) => void)[]>();
  /** Close code, once it is closed. */
  readonly closed: Promise<number>;
  readonly opened: Promise<void>;

  constructor({ address, ca, headers, localAddress, protocol = 'db.v1' }: StreamClientOptions) {
    const url = address.startsWith('unix:')
      ? `ws+unix:${address.slice('unix:'.length)}:/v1/stream`
      : `${address.replace(/^http/, 'ws')}/v1/stream`;
    this.socket = new WebSocket(url, protocol, {
      perMessageDeflate: false,
      ...(ca === undefined ? {} : { ca }),
      ...(headers === undefined ? {} : { headers }),
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    this.opened = new Promise((resolve, reject) => {
      this.socket.on('open', () => resolve());
      this.socket.on('unexpected-response', async (_request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const { statusCode: status = 0, headers } = response;
        reject(
          new RefusedStream({
            status,
            headers: headers as StreamAnswer['headers'],
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
      this.socket.on('error', reject);
    });
    this.opened.catch(() => {});
    this.closed = new Promise((resolve) => this.socket.on('close', (code) => resolve(code)));
    this.socket.on('message', (message: Buffer) => {
      for (const { nonce, answer } of readAnswers(message)) this.#waiting.get(nonce)?.shift()?.(answer);
    });
  }

  get isOpen(): boolean {
    return this.socket.readyState <= WebSocket.OPEN;
  }

  /** The answer to the call, or to the upgrade if that was refused. Rejects if the stream ends before the answer. */
  async send(path: string, envelope: Envelope): Promise<StreamAnswer> {
    try {
      await this.opened;
    } catch (error) {
      if (error instanceof RefusedStream) return error.answer;
      throw error;
    }
    const nonce = String(envelope.nonce);
    const answer = this.answerTo(nonce);
    this.socket.send(callFrame(path, envelope));
    return answer;
  }

  answerTo(nonce: string): Promise<StreamAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<StreamAnswer>();
    this.#waiting.set(nonce, [...(this.#waiting.get(nonce) ?? []), resolve]);
    void this.closed.then((code) => reject(new Error(`the stream was closed with ${code}`)));
    return promise;
  }

  close(): void {
    this.socket.terminate();
  }
}
