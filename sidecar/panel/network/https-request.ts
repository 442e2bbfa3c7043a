import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP } from 'node:net';
import { PanelError } from '../panel-error.ts';
import type { PinnedHost } from './host-policy.ts';

export interface HttpsCall {
  readonly url: URL;
  readonly pinned: PinnedHost;
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates, or null for Node's own. */
  readonly authorities: string | null;
  readonly signal?: AbortSignal;
  readonly mostBytes?: number;
  readonly timeoutMs?: number;
}

export interface HttpsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const LIMIT_MS = 10_000;
const MOST_BYTES = 1024 ** 2;

/**
 * GET over https to the pinned address, without redirects: a redirect is an answer like any other. Plain http is for a registry on
 * this machine alone, which the settings hold.
 *
 * @throws PanelError `bundleTools.network`, whose detail holds nothing that the other side sent
 */
export function httpsGet(call: HttpsCall): Promise<HttpsAnswer> {
  const { url, pinned, headers, authorities, signal, timeoutMs = LIMIT_MS, mostBytes = MOST_BYTES } = call;
  const limit = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const reason = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : (error.code ?? 'the connection failed');
      reject(new PanelError('bundleTools.network', { detail: `${url.host}: ${reason}` }));
    };
    const request = url.protocol === 'http:' ? requestPlain : requestTls;
    const sent = request({
      ...{ method: 'GET', host: pinned.address, port: pinned.port, path: `${url.pathname}${url.search}` },
      // The certificate is judged by the name, or by the address if that is the name.
      ...(isIP(pinned.host) === 0 ? { servername: pinned.host } : {}),
      ...(authorities === null ? {} : { ca: authorities }),
      headers: { ...headers, host: url.host, 'accept-encoding': 'identity', 'user-agent': 'game-server-panel' },
      agent: false,
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    sent.on('error', fail);
    sent.on('response', (response) => {
      readBody(response, mostBytes).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        fail,
      );
    });
    sent.end();
  });
}

async function readBody(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) {
      response.destroy();
      throw Object.assign(new Error(), { code: `the answer is longer than ${mostBytes} bytes` });
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
