import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { parseJson } from '#protocol/json-reader.ts';
import { JsonError } from '#protocol/json-value.ts';
import { BodyReader, isJsonType } from '#sidecar/http/body.ts';
import type { RequestLog } from '#sidecar/http/request-log.ts';
import type { ClientReader } from '#sidecar/security/client.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { PanelError } from '../panel-error.ts';
import type { StoreTrouble } from '../store-trouble.ts';
import { isCsrfToken } from './cookies.ts';
import { Course } from './course.ts';
import { HostRule } from './host-rule.ts';
import { setHeaders } from './reply.ts';
import { mayCall, type PanelRoute } from './route.ts';
import type { SessionReader } from './session-reader.ts';
import type { TokenReader } from './token-reader.ts';

const MAX_JSON_BYTES = 1024 * 1024;
/** For a body of JSON. */
const BODY_MS = 30_000;
const NO_BODY = z.strictObject({});

export interface GuardsOptions {
  readonly clients: ClientReader;
  readonly sessions: SessionReader;
  readonly tokens: TokenReader;
  /** Whether the account has to set a second factor first. */
  readonly factorRule: { isLacking(accountId: number): boolean };
  readonly audit: AuditLog;
  readonly requestLog: RequestLog;
  readonly trouble: Pick<StoreTrouble, 'tell'>;
  /** Whether a change of the panel's release is being made. */
  readonly updates: { readonly isApplying: boolean };
}

interface Parts extends GuardsOptions {
  readonly bodies: BodyReader;
  hosts: HostRule;
}

/** Before the panel listens: nothing has this port. */
const NO_HOSTS = new HostRule({ publicUrl: null, allowedHosts: [] }, 0);

/** Throws `PanelError`, which is the answer. */
type Guard = (course: Course, route: PanelRoute, parts: Parts) => void | Promise<void>;
type SiteGuard = (course: Course, parts: Parts) => void;
type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Every request passes these, also one that leads to no route. The order is the contract's ("Order of checks"). */
const SITE_GUARDS: readonly SiteGuard[] = [checkHost, readClient, checkOrigin];

const ACCESS_GUARDS: readonly Guard[] = [
  ...[readSession, checkExpiry, checkCsrf, checkSignedIn],
  ...[readToken, checkRate, checkFactor, checkTokenRoute],
  checkPermission,
];

/** Every request to a route passes these after the site's. */
const ROUTE_GUARDS: readonly Guard[] = [
  ...ACCESS_GUARDS,
  checkUpdate,
  checkFeature,
  readBody,
  checkAccessAgain,
  parseBody,
];

/** The guards as `onRequest` hooks, and the end of each request in log and audit. */
export class Guards {
  readonly #parts: Parts;

  constructor(options: GuardsOptions) {
    this.#parts = { ...options, bodies: new BodyReader(MAX_JSON_BYTES), hosts: NO_HOSTS };
  }

  /** Call it once the port is known. */
  answerTo(hosts: HostRule): void {
    this.#parts.hosts = hosts;
  }

  /** The first hook of each request, also of one that leads to no route. */
  siteHook(): Hook {
    return async (request, reply) => {
      setHeaders(reply.raw);
      const course = new Course(request.raw, reply.raw, request.params);
      request.course = course;
      limitBody(course);
      for (const guard of SITE_GUARDS) guard(course, this.#parts);
    };
  }

  /** The hook of each request to the route, after the site's. */
  routeHook(route: PanelRoute): Hook {
    return async ({ course }) => {
      course.route = route;
      for (const guard of ROUTE_GUARDS) await guard(course, route, this.#parts);
    };
  }

  /** Any thrown value as a refusal of the table. Details of a fault stay in the log. */
  refusalOf(error: unknown): PanelError {
    if (error instanceof PanelError) return error;
    const fault = this.#parts.trouble.tell(error, 'internal error');
    return new PanelError(fault?.isDiskFull === true ? 'disk.full' : 'internal.error');
  }

  /** Writes the answered request into the audit and the log. */
  note(course: Course, status: number, refusal: PanelError | null): void {
    try {
      this.#write(course, status, refusal?.key ?? '');
    } catch (error) {
      // A full disk, or a store that a stop has closed: the answer is out already.
      this.#parts.trouble.tell(error, 'an action could not be written into the audit log');
    }
  }

  #write({ route, caller, client, noted, isAudited, raw, startedMs }: Course, status: number, error: string): void {
    const { audit, requestLog } = this.#parts;
    const { address } = client;
    const username = caller?.username ?? '';
    if (route?.audit !== undefined && isAudited) {
      const { subject, changes, isPreview } = noted;
      const token = caller?.token?.name ?? '';
      const action = isPreview ? `${route.audit}.preview` : route.audit;
      audit.write({ username, token, action, subject, address, result: error === '' ? 'ok' : error, changes });
    }
    const { method = '' } = raw;
    if (method === 'GET' && status < 400) return;
    const ms = Math.round(performance.now() - startedMs);
    requestLog.write({ method, route: route?.path ?? '', username, address, status, error, ms });
  }
}

/** Closes the connection of a body that takes too long. That of an upload has a limit of its own. */
function limitBody(course: Course): void {
  const { raw } = course;
  const late = setTimeout(() => course.isBodyLong || raw.complete || raw.socket.destroy(), BODY_MS).unref();
  raw.once('close', () => clearTimeout(late));
}

function checkHost(course: Course, { hosts }: Parts): void {
  course.host = hosts.checkHost(course.raw);
}

function readClient(course: Course, { clients }: Parts): void {
  const client = clients.read(course.raw);
  if (client === null) throw new PanelError('host.invalid', { detail: 'the address of the client cannot be read' });
  course.client = client;
}

function checkOrigin({ raw, host, client }: Course, { hosts }: Parts): void {
  hosts.checkOrigin(raw, host, client);
}

function readSession(course: Course, _route: PanelRoute, { sessions }: Parts): void {
  if (course.bearer !== null) return;
  course.session = sessions.read(course.raw);
  course.caller = course.session.caller;
}

function checkExpiry({ session }: Course, { access }: PanelRoute): void {
  if (access.kind !== 'public' && session?.isStale === true) throw new PanelError('session.expired');
}

/** No other site can make a browser send a token, so a call with one needs no proof of its page. */
function checkCsrf({ headers, session, bearer }: Course, { method }: PanelRoute): void {
  if (method !== 'POST' || bearer !== null) return;
  const isOwn = session !== null && isCsrfToken(headers['x-csrf'], session.csrfCookie, session.token);
  if (!isOwn) throw new PanelError('csrf.invalid');
}

function checkSignedIn({ caller, bearer }: Course, { access }: PanelRoute): void {
  if (bearer === null && access.kind !== 'public' && caller === null) throw new PanelError('session.missing');
}

function readToken(course: Course, _route: PanelRoute, { tokens }: Parts): void {
  if (course.bearer !== null) course.caller = tokens.read(course.bearer, course.client.address);
}

function checkRate(course: Course, _route: PanelRoute, { tokens }: Parts): void {
  const { caller, client, isCounted } = course;
  const token = caller?.token ?? null;
  if (token === null || isCounted) return;
  course.isCounted = true;
  tokens.countCall(token.id, client.address);
}

/** Holds for the maker of a token too. */
function checkFactor({ caller }: Course, { access, withoutFactor }: PanelRoute, { factorRule }: Parts): void {
  if (access.kind === 'public' || withoutFactor === true || caller === null) return;
  if (factorRule.isLacking(caller.accountId)) throw new PanelError('secondFactor.required');
}

function checkTokenRoute(course: Course, { access }: PanelRoute): void {
  if (course.bearer === null || access.token === true) return;
  course.isAudited = true;
  throw new PanelError('token.route');
}

function checkPermission(course: Course, { access }: PanelRoute): void {
  if (mayCall(access, course.caller?.permissions ?? new Set())) return;
  course.isAudited = true;
  throw new PanelError('permission.missing');
}

/** Panel contract: no account may act between the acceptance of an update and its end. */
function checkUpdate(_course: Course, { method, access }: PanelRoute, { updates }: Parts): void {
  if (method === 'POST' && access.kind !== 'public' && updates.isApplying) throw new PanelError('update.busy');
}

function checkFeature(course: Course, { gate }: PanelRoute): void {
  gate?.(course);
}

async function readBody(course: Course, route: PanelRoute, parts: Parts): Promise<void> {
  const { method, body: shape, isUpload } = route;
  const { bodies } = parts;
  if (method === 'GET') return;
  if (isUpload === true) {
    course.isBodyLong = true;
    course.judgeAgain = async () => {
      for (const guard of ACCESS_GUARDS) await guard(course, route, parts);
    };
    return;
  }
  const { raw, client, caller } = course;
  checkType(raw.headers, shape === undefined);
  const body = await bodies.read(raw, { address: client.address, isStranger: caller === null });
  switch (body) {
    case 'tooLarge':
      throw new PanelError('body.large');
    case 'tooMany':
      throw new PanelError('rate.limited', { retryAfterSeconds: 1 });
    case 'cutOff':
      throw new PanelError('body.malformed', { detail: 'the body ended too early' });
    default:
      if (!isUtf8(body)) throw new PanelError('body.malformed', { detail: 'expected UTF-8' });
      course.bodyText = body.toString('utf8');
  }
}

/** No body needs no type; a body of another type is refused whatever it holds, since a form of another site can send it. */
function checkType(headers: Course['headers'], isOptional: boolean): void {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (isOptional && type === undefined && isEmpty) return;
  if (!isJsonType(type as string | undefined) || encoding !== 'identity') throw new PanelError('body.type');
}

/** The sender of a slow body may have lost the right to it meanwhile. */
async function checkAccessAgain(course: Course, route: PanelRoute, parts: Parts): Promise<void> {
  if (course.bodyText === '') return;
  for (const guard of ACCESS_GUARDS) await guard(course, route, parts);
}

function parseBody(course: Course, { method, body: shape = NO_BODY, isUpload, badField }: PanelRoute): void {
  const text = course.bodyText;
  if (method === 'POST' && isUpload !== true) {
    const read = shape.safeParse(text === '' ? {} : parse(text));
    if (!read.success) throw shapeFault(read.error.issues[0], badField);
    course.body = read.data;
  }
  course.isAudited = true;
}

function shapeFault(issue: z.core.$ZodIssue | undefined, badField: PanelRoute['badField']): PanelError {
  const path = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]] : (issue?.path ?? []);
  const field = path.map(String).join('.').slice(0, 100);
  if (issue === undefined || field === '') return new PanelError('body.malformed');
  // A value in a list is refused by the name of the list.
  const name = path.findLast((part) => typeof part === 'string');
  const key = badField === undefined || name === undefined ? 'body.malformed' : badField(name);
  return new PanelError(key, key === 'body.malformed' ? { field } : { field, detail: issue.message });
}

/** Strict as the signed API is: of a property that stands twice, a proxy or a log may read the other one. */
function parse(text: string): unknown {
  try {
    parseJson(text, { overflow: 'keep' });
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new PanelError('body.malformed', {
      detail: error.kind === 'syntax' ? `expected JSON: ${error.message}` : error.message,
    });
  }
}
