import type { ServerResponse } from 'node:http';
import { PanelError } from '../panel-error.ts';
import { type Answer, RawAnswer } from './route.ts';

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

export async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  if (response.destroyed) return;
  if (answer instanceof RawAnswer) await answer.send(response);
  else sendJson(response, 200, { ok: true, ...answer });
}

/** What is no `{"ok":true, …}`: a list, or a document that the contract writes down without it. */
export function jsonAnswer(value: unknown): RawAnswer {
  return new RawAnswer((response) => sendJson(response, 200, value));
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** The only place where an error becomes an answer. */
export function sendError(response: ServerResponse, error: PanelError): void {
  const { field, detail, reason, folder, retryAfterSeconds, allow } = error.details;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
  if (allow !== undefined) response.setHeader('allow', allow);
  sendJson(response, error.status, {
    ok: false,
    error: error.key,
    ...(field === undefined ? {} : { field }),
    ...(detail === undefined ? {} : { detail }),
    ...(reason === undefined ? {} : { reason }),
    ...(folder === undefined ? {} : { folder }),
  });
}

/** Whatever was thrown, as a refusal of the table. What a fault says stays in the log. */
export function asPanelError(error: unknown): PanelError {
  return error instanceof PanelError ? error : new PanelError('internal.error');
}
