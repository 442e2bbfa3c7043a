import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { fitsFrame, StreamClient } from './stream-client.ts';

/**
 * A client of the signed API, written from the specification alone: it imports nothing of the code that it judges.
 */

export const OPERATION_PATHS: Readonly<Record<string, string>> = {
  health: '/v1/health',
  'schema.sync': '/v1/schema/sync',
  'schema.extend': '/v1/schema/extend',
  'schema.describe': '/v1/schema/describe',
  insert: '/v1/data/insert',
  find: '/v1/data/find',
  update: '/v1/data/update',
  upsert: '/v1/data/upsert',
  delete: '/v1/data/delete',
  batch: '/v1/data/batch',
  count: '/v1/data/count',
  aggregate: '/v1/data/aggregate',
  flush: '/v1/data/flush',
};

export interface Envelope {
  v: unknown;
  kid: unknown;
  ts: unknown;
  nonce: unknown;
  payload: unknown;
  sig: unknown;
}

export interface Answer {
  /** Status of the HTTP answer. */
  readonly httpStatus: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** The whole body, as it came. */
  readonly body: string;
  readonly envelope: Record<string, unknown>;
  readonly ok: boolean;
  readonly status: number;
  /** Code of the error object; empty if the call succeeded. */
  readonly code: string;
  readonly message: string;
  /** Payload text, digit for digit. */
  readonly text: string;
  /** Payload through the native `JSON.parse`. */
  readonly result: Record<string, unknown>;
  readonly isSigned: boolean;
  /** Signed, with the right secret, for the nonce that was sent. */
  readonly isVerified: boolean;
}

export interface SignedClientOptions {
  /** `http://…`, `https://…` or `unix:/path`. */
  readonly address: string;
  readonly kid?: string;
  readonly secret: string;
  /** Epoch milliseconds; default the machine's clock. */
  readonly now?: () => number;
  readonly headers?: Record<string, string>;
  /** Trust of a private TLS certificate. */
  readonly ca?: string;
  readonly connections?: number;
  /** How signed calls travel; default `TEST_TRANSPORT`, else POST. What no frame can hold, probes and bodies by hand always go over HTTP. */
  readonly transport?: 'post' | 'stream';
}

export function hmac(secret: string, ...fields: (string | number)[]): string {
  return createHmac('sha256', secret.trim()).update(fields.join('\n')).digest('base64url');
}

export class SignedClient {
  readonly kid: string;
  readonly #options: SignedClientOptions;
  readonly #origin: string;
  readonly #agent: Agent;
  #stream: StreamClient | null = null;

  constructor(options: SignedClientOptions) {
    const isSocket = options.address.startsWith('unix:');
    this.kid = options.kid ?? 'local';
    this.#options = options;
    this.#origin = isSocket ? 'http://localhost' : options.address;
    this.#agent = new Agent({
      connections: options.connections ?? 128,
      connect: {
        ...(isSocket ? { socketPath: options.address.slice('unix:'.length) } : {}),
        ...(options.ca === undefined ? {} : { ca: options.ca }),
      },
    });
  }

  /** The same server under another key or other headers. Shares nothing; close it too. */
  with(options: Partial<SignedClientOptions>): SignedClient {
    return new SignedClient({ ...this.#options, ...options });
  }

  /** Seconds, as the envelope's `ts`. */
  seconds(): number {
    return Math.floor((this.#options.now ?? Date.now)() / 1000);
  }

  /** A properly signed envelope; `changes` are made before the signature, so it is right for them. */
  envelope(path: string, payload: unknown, changes: Partial<Omit<Envelope, 'sig'>> = {}): Envelope {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const unsigned = {
      v: 1,
      kid: this.kid,
      ts: this.seconds(),
      nonce: randomBytes(16).toString('base64url'),
      payload: text,
      ...changes,
    };
    const { kid, ts, nonce } = unsigned;
    const sig = hmac(
      this.#options.secret,
      'v1',
      path,
      String(kid),
      String(ts),
      String(nonce),
      String(unsigned.payload),
    );
    return { ...unsigned, sig };
  }

  /** A string payload is sent as it is, anything else as JSON. */
  async call(operation: string, payload: unknown = {}): Promise<Answer> {
    const path = OPERATION_PATHS[operation] ?? operation;
    return this.send(path, this.envelope(path, payload));
  }

  /** Like `call`, but an answer that is not `ok` throws: for the steps that only prepare a test. */
  async must<Result = Record<string, unknown>>(operation: string, payload: unknown = {}): Promise<Result> {
    const answer = await this.call(operation, payload);
    if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${answer.body}`);
    return answer.result as Result;
  }

  async send(path: string, envelope: Envelope, headers: Record<string, string> = {}): Promise<Answer> {
    const isOverStream =
      (this.#options.transport ?? process.env.TEST_TRANSPORT) === 'stream' && Object.keys(headers).length === 0;
    const answer =
      isOverStream && fitsFrame(envelope)
        ? await this.stream().send(path, envelope)
        : await this.raw('POST', path, JSON.stringify(envelope), headers);
    return this.read(answer, String(envelope.nonce));
  }

  /** The stream of this client; a new one if the last was closed. */
  stream(): StreamClient {
    if (this.#stream?.isOpen !== true) this.#stream = new StreamClient(this.#options);
    return this.#stream;
  }

  async post(path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
    return this.read(await this.raw('POST', path, body, headers), '');
  }

  async get(path: string): Promise<{ status: number; headers: Answer['headers']; body: string }> {
    return this.raw('GET', path, null, {});
  }

  async raw(method: string, path: string, body: string | Buffer | null, headers: Record<string, string>) {
    const answer = await request(this.#origin + path, {
      method: method as 'POST',
      body,
      headers: {
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...this.#options.headers,
        ...headers,
      },
      dispatcher: this.#agent,
      headersTimeout: 150_000,
    });
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
  }

  read(answer: { status: number; headers: Answer['headers']; body: string }, nonce: string): Answer {
    const envelope = JSON.parse(answer.body) as Record<string, unknown>;
    const text = String(envelope.payload);
    const result = JSON.parse(text) as Record<string, unknown>;
    const error = result?.error as { code?: string; message?: string } | undefined;
    const sig = hmac(this.#options.secret, 'v1resp', nonce, String(envelope.status), text);
    return {
      httpStatus: answer.status,
      headers: answer.headers,
      body: answer.body,
      envelope,
      ok: envelope.ok === true,
      status: Number(envelope.status),
      code: error?.code ?? '',
      message: error?.message ?? '',
      text,
      result,
      isSigned: typeof envelope.sig === 'string',
      isVerified: envelope.sig === sig,
    };
  }

  async close(): Promise<void> {
    this.#stream?.close();
    await this.#agent.destroy();
  }
}
