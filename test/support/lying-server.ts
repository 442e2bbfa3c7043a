import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Written after the specification's "Authentication" with node:crypto alone: an oracle, so it imports nothing of ours. */
export function oracleSign(secret: string, fields: readonly (string | number)[]): string {
  return createHmac('sha256', Buffer.from(secret.trim(), 'utf8')).update(fields.join('\n'), 'utf8').digest('base64url');
}

/** The text of a signed answer to the request with this nonce. */
export function signedAnswer(secret: string, nonce: string, status: number, payload: string): string {
  const sig = oracleSign(secret, ['v1resp', nonce, status, payload]);
  return JSON.stringify({ v: 1, ok: status === 200, status, payload, sig });
}

export function unsignedAnswer(status: number, code: string): string {
  const payload = JSON.stringify({ error: { code, message: code } });
  return JSON.stringify({ v: 1, ok: false, status, payload, code });
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The envelope, where the body is one. */
  readonly envelope: Record<string, unknown>;
  readonly nonce: string;
}

/** PEM texts. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
}

/** The payload by which the connector asks for the time. */
export const TIME_PAYLOAD = '{"for":"clock"}';

/** Answers one POST, truthfully or not. */
export type Behaviour = (request: SeenRequest, response: ServerResponse, server: LyingServer) => void;

/** An API on a free loopback port that answers each POST with the next behaviour of `script`, then with `otherwise`. */
export class LyingServer {
  readonly secret: string;
  readonly seen: SeenRequest[] = [];
  /** Requests of `GET /v1/health`. */
  probes = 0;
  /** `instance` of its public probe. */
  instance: string | undefined;
  script: Behaviour[] = [];
  otherwise: Behaviour = answers('{"rows":[],"hasMore":false}');
  /** Milliseconds that this server's clock is ahead. */
  clockOffsetMs = 0;
  /** Milliseconds that its public probe lies beside that. */
  probeLieMs = 0;
  /** Signed requests for the time, which are not among `seen`. */
  readings = 0;
  /** Answer to requests for the time. */
  tellsTime: Behaviour = (request, response, server) =>
    authenticates(JSON.stringify({ status: 'ok', time: Math.floor(server.now / 1000) }))(request, response, server);
  onUpgrade: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | null = null;
  readonly #scheme: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #waiters: (() => void)[] = [];

  constructor(secret: string, tls?: ServerTls) {
    this.secret = secret;
    this.#scheme = tls === undefined ? 'http' : 'https';
    const receive = (request: IncomingMessage, response: ServerResponse) =>
      // A connector that ends in the middle of a request leaves its body cut off.
      void this.#receive(request, response).catch((error) => request.complete && Promise.reject(error));
    // Without a test's own answer to upgrades this is an API that knows no streams.
    const options = { shouldUpgradeCallback: () => this.onUpgrade !== null };
    this.#server =
      tls === undefined ? createServer(options, receive) : createTlsServer({ ...options, ...tls }, receive);
    this.#server.on('upgrade', (request, socket, head) => this.onUpgrade?.(request, socket, head));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** @param where a port, 0 for any free one, or the path of a Unix socket */
  static async start(secret: string, where: number | string = 0, tls?: ServerTls): Promise<LyingServer> {
    const server = new LyingServer(secret, tls);
    await new Promise<void>((resolve) => {
      if (typeof where === 'string') {
        server.#server.listen(where, resolve);
      } else {
        server.#server.listen(where, '127.0.0.1', resolve);
      }
    });
    if (process.env.TEST_TRANSPORT === 'stream') (await import('./lying-over-stream.ts')).answerOverStream(server);
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  get now(): number {
    return Date.now() + this.clockOffsetMs;
  }

  /** Resolves once this many POSTs have arrived. */
  async untilSeen(count: number): Promise<void> {
    while (this.seen.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      });
    }
  }

  /** As a restart does; streams stay. */
  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '', method = '', headers } = request;
    if (path === '/v1/stream') {
      response.writeHead(404).end(unsignedAnswer(404, 'invalid_request'));
      return;
    }
    if (method === 'GET') {
      this.probes += 1;
      const time = Math.floor((this.now + this.probeLieMs) / 1000);
      response.end(JSON.stringify({ status: 'ok', time, instance: this.instance }));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks).toString('utf8');
    const envelope: Record<string, unknown> = JSON.parse(body);
    this.answer({ method, path, headers, body, envelope, nonce: String(envelope.nonce) }, response);
  }

  /** A signed call, by POST or over a stream. */
  answer(seen: SeenRequest, response: ServerResponse): void {
    const { envelope } = seen;
    if (envelope.payload === TIME_PAYLOAD) {
      this.readings += 1;
      this.tellsTime(seen, response, this);
      return;
    }
    this.seen.push(seen);
    for (const wake of this.#waiters.splice(0)) {
      wake();
    }
    (this.script.shift() ?? this.otherwise)(seen, response, this);
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}

/** The truth. */
export function answers(payload: string, status = 200): Behaviour {
  return ({ nonce }, response, { secret }) => send(response, status, signedAnswer(secret, nonce, status, payload));
}

/** Refuses a time stamp more than a minute off or a wrong signature, as the API does; else the truth. */
export function authenticates(payload: string): Behaviour {
  return (request, response, server) => {
    const { ts, kid, nonce, payload: asked, sig } = request.envelope;
    const expected = oracleSign(server.secret, ['v1', request.path, `${kid}`, `${ts}`, `${nonce}`, `${asked}`]);
    const isTimely = Math.abs(server.now / 1000 - Number(ts)) <= 60;
    if (sig === expected && isTimely) {
      answers(payload)(request, response, server);
    } else {
      unsigned(401, 'unauthorized')(request, response, server);
    }
  };
}

export function unsigned(status: number, code: string, headers?: Record<string, string>): Behaviour {
  return (_request, response) => send(response, status, unsignedAnswer(status, code), headers);
}

/** Any body at all: a page of a proxy, say. */
export function says(status: number, body: string, headers?: Record<string, string>): Behaviour {
  return (_request, response) => send(response, status, body, headers);
}

export function wrongSignature(status = 200): Behaviour {
  return ({ nonce }, response) => send(response, status, signedAnswer('another secret', nonce, status, '{}'));
}

/** Properly signed, but for another request. */
export const anothersAnswer: Behaviour = (_request, response, { secret }) =>
  send(response, 200, signedAnswer(secret, 'nonce-of-another', 200, '{}'));

/** Properly signed, under another HTTP status. */
export function underStatus(httpStatus: number, signedStatus: number): Behaviour {
  return ({ nonce }, response, { secret }) =>
    send(response, httpStatus, signedAnswer(secret, nonce, signedStatus, '{"error":{"code":"x","message":""}}'));
}

/** Properly signed, but one character of the payload is a byte that is no UTF-8. */
export const brokenText: Behaviour = ({ nonce }, response, { secret }) => {
  const [before = '', after = ''] = signedAnswer(secret, nonce, 200, '{"name":"\ufffd"}').split('\ufffd');
  send(response, 200, Buffer.concat([Buffer.from(before), Buffer.of(0xff), Buffer.from(after)]));
};

/** A signed answer whose payload changed on the way. */
export const changedPayload: Behaviour = ({ nonce }, response, { secret }) =>
  send(response, 200, signedAnswer(secret, nonce, 200, '{"count":1}').replace('count\\":1', 'count\\":2'));

export function redirects(to: string): Behaviour {
  return (_request, response) => send(response, 307, '', { location: to });
}

/** The first half of the true answer, then the connection closes. */
export const halfAnswer: Behaviour = ({ nonce }, response, { secret }) => {
  const text = signedAnswer(secret, nonce, 200, '{}');
  response.writeHead(200, { 'content-length': String(text.length) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
};

/** An answer that never ends, as fast as it is read. */
export const endless: Behaviour = (_request, response) => {
  response.writeHead(200);
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536))) {
      // Until the buffer is full.
    }
  };
  response.on('drain', more);
  more();
};

/** The true answer, one byte in 10 ms. */
export const drips: Behaviour = ({ nonce }, response, { secret }) => {
  const text = signedAnswer(secret, nonce, 200, '{}');
  let sent = 0;
  const timer = setInterval(() => {
    response.write(text.charAt(sent));
    sent += 1;
    if (sent === text.length || response.destroyed) {
      clearInterval(timer);
      response.end();
    }
  }, 10);
};

export const resets: Behaviour = (_request, response) => {
  response.socket?.resetAndDestroy();
};

/** Takes the request and never answers. */
export const silent: Behaviour = () => undefined;
