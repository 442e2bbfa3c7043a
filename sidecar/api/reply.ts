import type { ServerResponse } from 'node:http';
import { writeResponseEnvelope } from '#protocol/envelope.ts';
import type { ApiError } from '#protocol/errors.ts';
import { writeServerTiming } from '#protocol/server-timing.ts';
import { type Answer, errorAnswer } from '../operations/answer.ts';

const JSON_HEADERS = 'application/json; charset=utf-8';

/** Writes one answer; does nothing if the connection is gone or an answer was sent. */
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

/** JSON text of the answer's envelope. */
export function envelopeText({ status, code, payload, sig }: Answer): string {
  const error = code === '' ? {} : { code };
  return writeResponseEnvelope({ v: 1, ok: code === '', status, ...error, payload, ...(sig === null ? {} : { sig }) });
}

/** Writes the answer of an operation. */
export function replyAnswer(response: ServerResponse, answer: Answer, headers: Record<string, string> = {}): void {
  const { status, retryAfterSeconds, timing } = answer;
  sendJson(response, status, envelopeText(answer), {
    ...(retryAfterSeconds === null ? {} : { 'retry-after': retryAfterSeconds }),
    ...(timing === null ? {} : { 'server-timing': writeServerTiming(timing) }),
    ...headers,
  });
}

/** Unsigned: for a request that reached no operation. */
export function replyError(response: ServerResponse, error: ApiError, headers: Record<string, string> = {}): void {
  replyAnswer(response, errorAnswer(error), headers);
}
