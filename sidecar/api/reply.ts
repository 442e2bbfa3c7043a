import type { ServerResponse } from 'node:http';
import { writeResponseEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import { signResponse } from '#protocol/signing.ts';
import type { SigningKey } from '#protocol/signing-key.ts';
import { RateLimited } from './rate-limited.ts';

/** What an authenticated answer is signed with. */
export interface ReplySeal {
  readonly secret: SigningKey;
  readonly nonce: string;
}

const JSON_HEADERS = 'application/json; charset=utf-8';

/** Writes one answer; nothing where the connection is gone or an answer was given. */
export function send(response: ServerResponse, status: number, type: string, body: string, headers = {}): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(body);
}

export function sendJson(response: ServerResponse, status: number, body: string, headers = {}): void {
  send(response, status, JSON_HEADERS, body, headers);
}

export function replyResult(
  response: ServerResponse,
  seal: ReplySeal,
  payload: string,
  headers: Record<string, string> = {},
): void {
  const sig = signResponse(seal.secret, seal.nonce, 200, payload);
  sendJson(response, 200, writeResponseEnvelope({ v: 1, ok: true, status: 200, payload, sig }), headers);
}

/** The only place where an error becomes an envelope; unsigned without a seal. */
export function replyError(
  response: ServerResponse,
  error: ApiError,
  seal: ReplySeal | null = null,
  headers: Record<string, string | number> = {},
): void {
  const retry = error instanceof RateLimited ? { 'retry-after': error.retryAfterSeconds } : {};
  sendJson(response, error.status, errorEnvelope(error, seal), { ...retry, ...headers });
}

export function errorEnvelope(error: ApiError, seal: ReplySeal | null = null): string {
  const { code, status, message, index } = error;
  const payload = JSON.stringify({ error: { code, message, index } });
  const sig = seal === null ? undefined : signResponse(seal.secret, seal.nonce, status, payload);
  return writeResponseEnvelope({ v: 1, ok: false, status, code, payload, ...(sig === undefined ? {} : { sig }) });
}

/** An answer for a connection that never became a request. */
export function rawErrorAnswer(error: ApiError): string {
  const body = errorEnvelope(error);
  const head = [
    `HTTP/1.1 ${error.status} Bad Request`,
    `Content-Type: ${JSON_HEADERS}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Whatever was thrown, as an error of the table. Details of a fault stay in the log. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('internal_error', 'the service failed; details are in its log', { cause: error });
}
