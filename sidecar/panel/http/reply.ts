import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import type { PanelError } from '../panel-error.ts';
import { type Answer, RawAnswer } from './route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Nothing of an answer runs, and no page of another site shows or reads it. The pages have their own policy. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** On every answer, also on those that a route writes itself. */
export function setHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}

export async function sendAnswer(reply: FastifyReply, answer: Answer): Promise<void> {
  if (!(answer instanceof RawAnswer)) {
    reply.send({ ok: true, ...answer });
    return;
  }
  if (reply.raw.destroyed) return;
  await answer.send(reply.raw);
  // Only now: an error before the first byte is an answer of the table.
  reply.hijack();
}

/** For a list, or a document that the contract has without `ok`. */
export function jsonAnswer(value: unknown): RawAnswer {
  const body = JSON.stringify(value);
  return new RawAnswer((response) => {
    const headers = { 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(body) };
    response.writeHead(200, headers).end(body);
  });
}

/** The only place where an error becomes an answer. */
export function sendError(reply: FastifyReply, error: PanelError): void {
  const { retryAfterSeconds, allow, ...shown } = error.details;
  if (reply.raw.headersSent) {
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  if (allow !== undefined) reply.header('allow', allow);
  // A route may have set the type of a download before it failed.
  reply
    .code(error.status)
    .type(JSON_TYPE)
    .send({ ok: false, error: error.key, ...shown });
}

const STALLED_MS = 30_000;

/** Sends all of `source`. Cuts off a client that reads nothing for `stalledMs`; a client that disconnects is no fault. */
export async function sendStream(source: Readable, response: ServerResponse, stalledMs = STALLED_MS): Promise<void> {
  const cut = setTimeout(() => response.destroy(), stalledMs);
  try {
    const sent = pipeline(source, response);
    // While the reader takes nothing, nothing is read either.
    source.on('data', () => cut.refresh());
    await sent;
  } catch (error) {
    source.destroy();
    if (!response.destroyed) throw error;
  } finally {
    clearTimeout(cut);
  }
}
