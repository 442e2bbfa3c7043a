import type { IncomingMessage } from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP } from 'node:net';
import type { PinnedHost } from './host-policy.ts';

export interface PinnedRequest {
  readonly url: URL;
  readonly pinned: PinnedHost;
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates that alone are trusted; null: Node's own. */
  readonly authorities: string | null;
  /** JSON of a POST; left out: a GET. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** There was no answer. */
export class ConnectionFailed extends Error {
  /** How far the connection came. */
  readonly stage: 'connect' | 'tls' | 'answer';
  readonly code: string | undefined;

  constructor(stage: ConnectionFailed['stage'], { message, code }: NodeJS.ErrnoException) {
    super(message);
    this.stage = stage;
    this.code = code;
  }
}

/**
 * A request to the pinned address, whatever a second answer of DNS would be. No proxy, and a redirect is an answer like any
 * other. The certificate is judged, whatever the environment says.
 *
 * @throws ConnectionFailed
 */
export function sendPinned({
  url,
  pinned,
  headers,
  authorities,
  body,
  signal,
}: PinnedRequest): Promise<IncomingMessage> {
  const ofBody =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const request = url.protocol === 'http:' ? requestPlain : requestTls;
  return new Promise((resolve, reject) => {
    let stage: ConnectionFailed['stage'] = 'connect';
    const sent = request({
      ...{ method: body === undefined ? 'GET' : 'POST', host: pinned.address, port: pinned.port },
      ...{ path: `${url.pathname}${url.search}`, agent: false, signal, rejectUnauthorized: true },
      // By the name, or by the address if that is the name.
      ...(isIP(pinned.host) === 0 ? { servername: pinned.host } : {}),
      ...(authorities === null ? {} : { ca: authorities }),
      headers: {
        ...ofBody,
        ...headers,
        ...{ host: url.host, 'accept-encoding': 'identity', 'user-agent': 'game-server-panel' },
      },
    });
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        stage = 'tls';
      });
      socket.once('secureConnect', () => {
        stage = 'answer';
      });
    });
    sent.on('error', (error) => reject(new ConnectionFailed(stage, error)));
    sent.on('response', resolve);
    sent.end(body);
  });
}
