import type { FactorState } from '#panel/shapes/second-factor.ts';
import { noteServerTime } from './clock.ts';
import { PanelFault } from './panel-fault.ts';

export interface SessionReply {
  readonly authenticated: boolean;
  readonly username: string;
  readonly permissions: readonly string[];
  readonly secondFactor: FactorState;
  readonly csrf: string;
}

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Listener of the session: hears what the answers say about it. */
export interface SessionListener {
  /** A new token was needed; false if it is for another account than the page shows. */
  renewed(reply: SessionReply): boolean;
  /** The panel no longer knows this session. */
  ended(): void;
  /** The account has to set a second factor before anything else. */
  held(): void;
}

let token = '';
let listener: SessionListener = { renewed: () => true, ended: () => {}, held: () => {} };

export function listenToSession(to: SessionListener): void {
  listener = to;
}

export function withQuery(path: string, query: Query = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(path, { credentials: 'same-origin', cache: 'no-store', ...init });
    noteServerTime(response.headers.get('Date'));
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new PanelFault('network', 0);
  }
}

async function faultOf(response: Response): Promise<PanelFault> {
  const retryAfter = Number(response.headers.get('Retry-After')) || null;
  try {
    const reply = (await response.json()) as Record<string, unknown>;
    return new PanelFault(String(reply.error ?? 'internal.error'), response.status, reply, retryAfter);
  } catch {
    // A proxy's own page, for one.
    return new PanelFault(response.status >= 502 ? 'network' : 'internal.error', response.status);
  }
}

async function read<T>(response: Response): Promise<T> {
  if (!response.ok) throw await faultOf(response);
  const reply = await response.json();
  if (reply?.ok === false) throw new PanelFault(String(reply.error), response.status, reply);
  return reply as T;
}

/** Session state; keeps its token for what is posted from now on. */
export async function fetchSession(): Promise<SessionReply> {
  const reply = await read<SessionReply>(await ask('/api/session', {}));
  token = reply.csrf;
  return reply;
}

/** Sends a POST with the token of the session. */
type Send = (token: string) => Promise<Response>;

function sendJson(path: string, body: unknown, signal?: AbortSignal): Send {
  return (csrf) =>
    ask(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF': csrf },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
}

/** Sent once more after `csrf.invalid`, but only where the session is still that of the account the page shows. */
async function sendOnceMore(send: Send): Promise<Response> {
  const response = await send(token);
  if (response.status !== 400) return response;
  const { error } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { error?: string };
  if (error !== 'csrf.invalid') return response;
  return listener.renewed(await fetchSession()) ? send(token) : response;
}

async function answered<T>(work: Promise<Response>, take: (response: Response) => Promise<T>): Promise<T> {
  try {
    return await take(await work);
  } catch (error) {
    if (error instanceof PanelFault && (error.key === 'session.missing' || error.key === 'session.expired')) {
      listener.ended();
    }
    if (error instanceof PanelFault && error.key === 'secondFactor.required') listener.held();
    throw error;
  }
}

async function textOf(response: Response): Promise<string> {
  if (!response.ok) throw await faultOf(response);
  return response.text();
}

export const api = {
  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
    return answered(ask(withQuery(path, query), signal === undefined ? {} : { signal }), read<T>);
  },
  /** Answer that is no JSON, such as the tail of a log. */
  text(path: string, query?: Query, signal?: AbortSignal): Promise<string> {
    return answered(ask(withQuery(path, query), signal === undefined ? {} : { signal }), textOf);
  },
  post<T = unknown>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> {
    return answered(sendOnceMore(sendJson(path, body, signal)), read<T>);
  },
  /** A POST that `send` makes in its own way, such as with a report of its progress. */
  postBy<T>(send: Send): Promise<T> {
    return answered(sendOnceMore(send), read<T>);
  },
};
