import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { orLate } from '#sidecar/deadline.ts';
import { ConnectionFailed, sendPinned } from '../../network/pinned-request.ts';
import type { NoticeFault } from '../../shapes/notices.ts';
import { type AllowedHosts, hostOf } from './allowed-hosts.ts';
import { type Delivery, shownAnswer, TRY_MS } from './delivery.ts';

export type Resolve = (host: string) => Promise<readonly string[]>;

export interface Posting {
  readonly url: URL;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM that alone is trusted; null: Node's own. */
  readonly authorities: string | null;
  /** Never shown, beside what the URL has. */
  readonly secret: string;
  readonly hosts: AllowedHosts;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
  /** Limit of the whole try, resolving included. */
  readonly timeoutMs?: number;
}

const MOST_BYTES = 16_384;
const MOST_RETRY_MS = 3_600_000;
/** Shorter parts of a path are words. */
const LEAST_TOKEN_CHARS = 8;

/** A try failed before there was an answer. */
class Failed extends Error {
  readonly fault: NoticeFault;

  constructor(fault: NoticeFault) {
    super(fault);
    this.fault = fault;
  }
}

/**
 * A try. The host is resolved once, and the connection goes to the address that was judged; a redirect
 * is an answer like any other. Never throws, and nothing of the result has more of the URL than its origin.
 */
export async function post(posting: Posting): Promise<Delivery> {
  const began = performance.now();
  const { timeoutMs = TRY_MS } = posting;
  const limit = AbortSignal.timeout(timeoutMs);
  const none = { delivered: false, status: null, answer: '', retryAfterMs: null };
  const ms = () => Math.round(performance.now() - began);
  try {
    const address = await judgedAddress(posting, timeoutMs);
    const { url, headers, authorities, body } = posting;
    const pinned = { host: hostOf(url), port: url.port === '' ? 443 : Number(url.port), address };
    const signal = AbortSignal.any([limit, posting.signal]);
    const response = await sendPinned({ url, pinned, headers, authorities, body, signal });
    const text = await beginOf(response);
    return { ...judged(response, text, posting), ms: ms() };
  } catch (error) {
    return { ...none, ms: ms(), error: limit.aborted ? 'timeout' : faultOf(error) };
  }
}

function faultOf(error: unknown): NoticeFault {
  if (error instanceof Failed) return error.fault;
  return error instanceof ConnectionFailed && error.stage === 'tls' ? 'tls' : 'connect';
}

export async function systemResolve(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address);
}

async function judgedAddress({ url, hosts, resolve }: Posting, timeoutMs: number): Promise<string> {
  const host = hostOf(url);
  const resolved =
    isIP(host) !== 0
      ? [host]
      : await orLate(
          resolve(host).catch(() => []),
          timeoutMs,
          null,
        );
  if (resolved === null) throw new Failed('timeout');
  if (resolved.length === 0) throw new Failed('dns');
  const address = hosts.firstOf(host, resolved);
  if (address === null) throw new Failed('private');
  return address;
}

/** The first bytes of the answer; an answer that breaks off or is slow has been given all the same. */
async function beginOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= MOST_BYTES) break;
    }
  } catch {
    // Its status stands.
  }
  response.destroy();
  return Buffer.concat(chunks).toString('utf8');
}

function judged(
  { statusCode = 0, headers }: IncomingMessage,
  text: string,
  { url, secret }: Posting,
): Omit<Delivery, 'ms'> {
  const delivered = statusCode >= 200 && statusCode < 300;
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const error = delivered ? null : isRedirect ? 'redirect' : 'status';
  const answer = shownAnswer(text, secretsOf(url, secret));
  return { delivered, status: statusCode, answer, error, retryAfterMs: retryAfterOf(headers['retry-after'], text) };
}

/** Everything of the URL beyond its origin, also in parts: a server repeats a token alone. */
function secretsOf({ pathname, search, hash }: URL, secret: string): string[] {
  const words = [...pathname.split('/'), ...search.slice(1).split(/[&=]/)];
  const parts = [...words, ...words.map(decoded)].filter((part) => part.length >= LEAST_TOKEN_CHARS);
  return [`${pathname}${search}`, pathname, search, hash, secret, ...parts];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `Retry-After` in seconds or as a date, or Discord's `retry_after` in seconds; null: none. */
function retryAfterOf(header: string | undefined, text: string): number | null {
  const ofHeader =
    header === undefined ? Number.NaN : /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  const waits = Number.isNaN(ofHeader) ? secondsOf(text) * 1000 : ofHeader;
  return Number.isNaN(waits) ? null : Math.min(Math.max(0, Math.ceil(waits)), MOST_RETRY_MS);
}

function secondsOf(text: string): number {
  try {
    const { retry_after: seconds } = JSON.parse(text) as { readonly retry_after?: unknown };
    return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
