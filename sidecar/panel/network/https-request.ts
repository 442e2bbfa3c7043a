import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PanelError } from '../panel-error.ts';
import { type PinnedRequest, sendPinned } from './pinned-request.ts';

export interface HttpsCall extends Omit<PinnedRequest, 'body' | 'signal'> {
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
export async function httpsGet(call: HttpsCall): Promise<HttpsAnswer> {
  const { signal, timeoutMs = LIMIT_MS, mostBytes = MOST_BYTES, ...request } = call;
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await sendPinned({
      ...request,
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    const body = await readBody(response, mostBytes);
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  } catch (error) {
    const { code = 'the connection failed' } = error as NodeJS.ErrnoException;
    const reason = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : code;
    throw new PanelError('bundleTools.network', { detail: `${call.url.host}: ${reason}` });
  }
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
