import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Client, ClientReader } from '#sidecar/security/client.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { PanelError } from '../panel-error.ts';
import type { AuditChange } from '../shapes/accounts.ts';
import type { StoreTrouble } from '../store-trouble.ts';
import type { HostRule } from './host-rule.ts';
import { BodyReader } from './read-body.ts';
import { asPanelError, sendAnswer, sendError, setHeaders } from './reply.ts';
import type { RequestLog } from './request-log.ts';
import { type Answer, type Caller, mayCall, type PanelRequest, type PanelRoute } from './route.ts';
import { hasCsrfToken, type SessionReader, type SessionState } from './session-reader.ts';

/** What a path leads to: a route, or what is answered where there is none. */
export type Target =
  | { readonly route: PanelRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly route: null; readonly answer: () => Answer };

export interface GuardsOptions {
  readonly hosts: () => HostRule;
  readonly clients: ClientReader;
  readonly sessions: SessionReader;
  readonly audit: AuditLog;
  readonly requestLog: RequestLog;
  readonly trouble: Pick<StoreTrouble, 'tell'>;
}

/** What is known of a request while it is judged; the log and the audit read it at the end. */
interface Course {
  client: Client | null;
  caller: Caller | null;
  subject: string;
  changes: readonly AuditChange[];
  isPreview: boolean;
  isAudited: boolean;
}

const NO_BODY = z.strictObject({});

/** Every request passes here, in the order that the contract gives ("Order of checks"). */
export class Guards {
  readonly #options: GuardsOptions;
  /** Apart, so that strangers who send a lot slowly hold up nobody who has signed in. */
  readonly #bodies = { strangers: new BodyReader(), accounts: new BodyReader() };

  constructor(options: GuardsOptions) {
    this.#options = options;
  }

  async serve(request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> {
    const startedMs = performance.now();
    const course: Course = { client: null, caller: null, subject: '', changes: [], isPreview: false, isAudited: false };
    let refusal: PanelError | null = null;
    setHeaders(response);
    try {
      await sendAnswer(response, await this.#answer(request, response, target, course));
    } catch (error) {
      refusal = asPanelError(error);
      if (refusal.key === 'internal.error') this.#options.trouble.tell(error, 'internal error');
      sendError(response, refusal);
    }
    const ms = Math.round(performance.now() - startedMs);
    try {
      this.#note(request, target, course, { status: response.statusCode, key: refusal?.key ?? '', ms });
    } catch (error) {
      // A full disk, or a store that a stop has closed: the answer is out already.
      this.#options.trouble.tell(error, 'an action could not be written into the audit log');
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, target: Target, course: Course): Promise<Answer> {
    const { hosts, clients, sessions } = this.#options;
    const host = hosts().checkHost(request);
    const client = clients.read(request);
    if (client === null) throw new PanelError('host.invalid', { detail: 'the address of the client cannot be read' });
    course.client = client;
    hosts().checkOrigin(request, host, client);
    if (target.route === null) return target.answer();
    const { route, params } = target;
    const state = sessions.read(request);
    checkAccess(request, route, state, course);
    const base = { client, caller: state.caller, params, ...requestOf(request, response, course) };
    route.gate?.(base);
    const bodies = this.#bodies[state.caller === null ? 'strangers' : 'accounts'];
    const bodyText = route.method === 'POST' ? await bodies.read(request, route.body === undefined) : '';
    // Who sends a body slowly may have lost the right to meanwhile.
    if (bodyText !== '') checkAccess(request, route, sessions.read(request), course);
    const body = readBody(route, bodyText) as never;
    course.isAudited = true;
    return await route.handle({ ...base, caller: course.caller, body, bodyText });
  }

  #note(request: IncomingMessage, { route }: Target, course: Course, { status, key, ms }: Outcome): void {
    const { audit, requestLog } = this.#options;
    const address = course.client?.address ?? '';
    const username = course.caller?.username ?? '';
    if (route?.audit !== undefined && course.isAudited) {
      const result = key === '' ? 'ok' : key;
      const { subject, changes, isPreview } = course;
      const action = isPreview ? `${route.audit}.preview` : route.audit;
      audit.write({ username, action, subject, address, result, changes });
    }
    const method = request.method ?? '';
    requestLog.write({ method, route: route?.path ?? '', username, address, status, error: key, ms });
  }
}

interface Outcome {
  readonly status: number;
  /** Empty for a success. */
  readonly key: string;
  readonly ms: number;
}

function checkAccess(request: IncomingMessage, route: PanelRoute, state: SessionState, course: Course): void {
  course.caller = state.caller;
  const isGuarded = route.access.kind !== 'public';
  if (isGuarded && state.isStale) throw new PanelError('session.expired');
  if (route.method === 'POST' && !hasCsrfToken(request, state)) throw new PanelError('csrf.invalid');
  if (!isGuarded) return;
  if (state.caller === null) throw new PanelError('session.missing');
  if (mayCall(route.access, state.caller.permissions)) return;
  course.isAudited = true;
  throw new PanelError('permission.missing');
}

function requestOf(request: IncomingMessage, response: ServerResponse, course: Course) {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const [, query = ''] = (request.url ?? '').split(/\?(.*)/s);
  return {
    query: new URLSearchParams(query),
    headers: request.headers,
    signal: gone.signal,
    subject: (text: string) => {
      course.subject = text;
    },
    changes: (changes: readonly AuditChange[]) => {
      course.changes = changes;
    },
    previews: () => {
      course.isPreview = true;
    },
    setCookie: (text: string) => {
      response.appendHeader('set-cookie', text);
    },
  } satisfies Partial<PanelRequest>;
}

function readBody(route: PanelRoute, text: string): unknown {
  if (route.method === 'GET') return undefined;
  const read = (route.body ?? NO_BODY).safeParse(text === '' ? {} : parse(text));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]] : (issue?.path ?? []);
  const field = path.map(String).join('.').slice(0, 100);
  throw new PanelError('body.malformed', field === '' ? {} : { field });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PanelError('body.malformed', { detail: 'expected JSON' });
  }
}
