import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '#sidecar/security/client.ts';
import type { AuditChange } from '../shapes/accounts.ts';
import type { Caller, PanelRequest, PanelRoute } from './route.ts';
import type { SessionState } from './session-reader.ts';

const BEARER = /^bearer(?: +|$)/i;
/** Before the guards have read the address. */
const UNKNOWN_CLIENT: Client = { address: '', isLoopback: false, isSecure: false };

/** A request on its way through the guards to its handler; the log and the audit read it at the end. */
export class Course implements PanelRequest {
  readonly raw: IncomingMessage;
  readonly startedMs = performance.now();
  readonly headers: IncomingHttpHeaders;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
  /** Null if the path leads to no route. */
  route: PanelRoute | null = null;
  /** As the Host header has it, in lower case. */
  host = '';
  client = UNKNOWN_CLIENT;
  /** Null for a call with a token. */
  session: SessionState | null = null;
  /** Secret of a token, which stands for session and CSRF; null without one. */
  readonly bearer: string | null;
  /** The call is in the token's rate already: guards may judge a request twice. */
  isCounted = false;
  caller: Caller | null = null;
  body: unknown = undefined;
  bodyText = '';
  /** The call was admitted, or refused for a missing permission: the audit log has it. */
  isAudited = false;
  /** The route admits a body that takes an hour. */
  isBodyLong = false;
  /** Set by the guards of an upload route. */
  judgeAgain: () => Promise<void> = async () => {};
  /** For the audit log. */
  noted = { subject: '', isPreview: false, changes: [] as readonly AuditChange[] };
  // Arrow functions, as handlers destructure the request.
  readonly subject = (text: string): void => {
    this.noted.subject = text;
  };
  readonly changes = (changes: readonly AuditChange[]): void => {
    this.noted.changes = changes;
  };
  readonly previews = (): void => {
    this.noted.isPreview = true;
  };
  readonly setCookie = (text: string): void => {
    // A program has no jar: a call with a token neither reads a cookie nor sets one.
    if (this.bearer === null) this.#response.appendHeader('set-cookie', text);
  };
  readonly #response: ServerResponse;

  constructor(raw: IncomingMessage, response: ServerResponse, params: unknown) {
    this.raw = raw;
    this.headers = raw.headers;
    this.bearer = bearerOf(raw);
    this.#response = response;
    this.params = params as Readonly<Record<string, string>>;
    const [, query = ''] = (raw.url ?? '').split(/\?(.*)/s);
    this.query = new URLSearchParams(query);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    this.signal = gone.signal;
  }
}

/** Secret of `Authorization: Bearer …`; null for no header, or another scheme, which a proxy may use. */
function bearerOf({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const { authorization = '' } = headers;
  return BEARER.test(authorization) ? authorization.replace(BEARER, '').trim() : null;
}

declare module 'fastify' {
  interface FastifyRequest {
    course: Course;
  }
}
