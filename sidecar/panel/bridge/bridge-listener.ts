import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AddressRanges, readAddress } from '#sidecar/security/addresses.ts';
import { AttemptLimit } from '../attempt-limit.ts';
import { HEAD_TIMES, OpenConnections } from '../open-connections.ts';
import { type BridgeLine, readBridgeLines } from './bridge-line.ts';
import type { BridgeTokens } from './bridge-tokens.ts';

/** Bound per address, in the period of `AttemptLimit`. */
const MOST_WRONG_TOKENS = 10;
const MAX_BODY_BYTES = 1_048_576;
const CONNECTIONS = { most: 64, mostOfNetwork: 16 };
const REQUEST_TIMEOUT_MS = 15_000;

/** Networks that are not routed over the internet (RFC 1918, 3927, 4193, 4291), and this machine. */
const PRIVATE = new AddressRanges([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]);

export interface ListenerOptions {
  readonly tokens: Pick<BridgeTokens, 'use'>;
  /** Stores lines; resolves when they are stored. */
  readonly keep: (lines: readonly BridgeLine[], address: string) => Promise<void>;
  /** Milliseconds that never go back. */
  readonly monotonicNow: () => number;
}

interface Refusal {
  readonly status: number;
  readonly error: string;
  readonly retryAfterSeconds?: number;
}

/** `POST /lines` with a bearer token, and nothing else: no page, no cookie, no other route. */
export class BridgeListener {
  readonly #options: ListenerOptions;
  readonly #wrong: AttemptLimit;
  readonly #server: Server;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#wrong = new AttemptLimit(MOST_WRONG_TOKENS, options.monotonicNow);
    this.#server = createServer({ ...HEAD_TIMES, requestTimeout: REQUEST_TIMEOUT_MS });
    new OpenConnections(CONNECTIONS).watch(this.#server);
    this.#server.on('request', (request, response) => {
      this.#serve(request).then(
        (refusal) => answer(request, response, refusal),
        () => answer(request, response, { status: 500, error: 'the lines could not be kept' }),
      );
    });
  }

  /** Resolves with the port. Rejects if it cannot listen. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** null if the lines are stored. Checks the sender before it reads the body. */
  async #serve(request: IncomingMessage): Promise<Refusal | null> {
    const address = request.socket.remoteAddress ?? '';
    if (!isPrivateAddress(address)) return { status: 403, error: 'only machines of this network are served' };
    if (request.url !== '/lines') return { status: 404, error: 'there is only POST /lines' };
    if (request.method !== 'POST') return { status: 405, error: 'there is only POST /lines' };
    const retryAfterSeconds = this.#wrong.blockedSeconds(address);
    if (retryAfterSeconds > 0) return { status: 429, error: 'too many wrong tokens', retryAfterSeconds };
    const token = /^Bearer ([A-Za-z0-9_-]{43})$/.exec(request.headers.authorization ?? '')?.[1];
    const machine = token === undefined ? null : this.#options.tokens.use(token);
    if (machine === null) {
      this.#wrong.count(address);
      return { status: 401, error: 'the token is not known here; make one in the panel' };
    }
    const body = await readBody(request);
    if (body === null) return { status: 413, error: `at most ${MAX_BODY_BYTES} bytes at once` };
    const lines = readBridgeLines(body, machine.name);
    if (typeof lines === 'number') {
      const form = '{"time","level","module","text"}, level debug, info, warn or error';
      return { status: 400, error: `line ${lines}: expected ${form}` };
    }
    if (lines.length > 0) await this.#options.keep(lines, address);
    return null;
  }
}

/** null if the body is too long. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function answer(request: IncomingMessage, response: ServerResponse, refusal: Refusal | null): void {
  const { status, error, retryAfterSeconds } = refusal ?? { status: 200 };
  const body = JSON.stringify(refusal === null ? { ok: true } : { ok: false, error });
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    // An unread rest of the body must not be taken for the next request.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(body);
}

function isPrivateAddress(address: string): boolean {
  const read = readAddress(address);
  return read !== null && PRIVATE.has(read);
}
