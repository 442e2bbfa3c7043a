import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '#sidecar/security/client.ts';
import type { AuditChange } from '../shapes/accounts.ts';
import type { Caller, PanelRequest, PanelRoute } from './route.ts';
import type { SessionState } from './session-reader.ts';

/** One request on its way through the guards to its handler; the log and the audit read it at the end. */
export class Course implements PanelRequest {
  readonly raw: IncomingMessage;
  readonly startedMs = performance.now();
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
  /** Null if the path leads to no route. */
  route: PanelRoute | null = null;
  /** As the Host header has it, in lower case. */
  host = '';
  session: SessionState | null = null;
  body: unknown = undefined;
  bodyText = '';
  /** The call was admitted, or refused for a missing permission: the audit log has it. */
  isAudited = false;
  /** For the audit log. */
  noted = { subject: '', isPreview: false, changes: [] as readonly AuditChange[] };
  // Functions of their own, as handlers take the request apart.
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
    this.#response.appendHeader('set-cookie', text);
  };
  readonly #response: ServerResponse;
  #client: Client | null = null;

  constructor(raw: IncomingMessage, response: ServerResponse, params: unknown) {
    this.raw = raw;
    this.#response = response;
    this.params = params as Readonly<Record<string, string>>;
    const [, query = ''] = (raw.url ?? '').split(/\?(.*)/s);
    this.query = new URLSearchParams(query);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    this.signal = gone.signal;
  }

  get headers(): PanelRequest['headers'] {
    return this.raw.headers;
  }

  get caller(): Caller | null {
    return this.session?.caller ?? null;
  }

  /** Set by the first guards; a request whose client cannot be read gets no further. */
  get client(): Client {
    return this.#client as Client;
  }

  set client(client: Client) {
    this.#client = client;
  }

  /** Empty before the client is known. */
  get address(): string {
    return this.#client?.address ?? '';
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    course: Course;
  }
}
