import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Client } from '#sidecar/security/client.ts';
import { PanelError } from '../panel-error.ts';
import type { AuditChange } from '../shapes/accounts.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import type { Permission } from '../shapes/permissions.ts';

/** Right to call a route: data on the route, checked before its handler is reached. The panel does not start with a route without it. */
export type Access = Right & {
  /**
   * Tokens may call it too, with the permissions that the route needs. A route is for programs if its declaration says so:
   * `access: forTokens(needs('console.read'))`. Never for routes that change accounts, tokens, factors or settings. Such a
   * route also has its line in `scripts/panel-api/descriptions.ts`.
   */
  readonly token?: true;
};

type Right =
  /** Everyone, also before sign-in. */
  | { readonly kind: 'public' }
  /** Any account. */
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'all'; readonly permissions: readonly [Permission, ...Permission[]] }
  | { readonly kind: 'any'; readonly permissions: readonly [Permission, ...Permission[]] };

export const PUBLIC: Access = { kind: 'public' };
export const AUTHENTICATED: Access = { kind: 'authenticated' };

export function needs(...permissions: [Permission, ...Permission[]]): Access {
  return { kind: 'all', permissions };
}

export function needsAny(...permissions: [Permission, ...Permission[]]): Access {
  return { kind: 'any', permissions };
}

export function forTokens(access: Access): Access {
  return { ...access, token: true };
}

/** The signed-in account, as it is for this one request. */
export interface Caller {
  readonly accountId: number;
  readonly username: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Id of the session, for streams; never its secret. Null if the call came with a token. */
  readonly sessionId: number | null;
  /** Null if the call came with a session. */
  readonly token: CallerToken | null;
  /** Epoch milliseconds: when the session or the token ends, whatever is done. Infinite for a token without an end. */
  readonly expiresAt: number;
}

/** Token that a program calls with. */
export interface CallerToken {
  readonly id: number;
  readonly name: string;
  /** As listed; those of the caller are the ones that the maker holds too. */
  readonly permissions: ReadonlySet<Permission>;
}

export interface PanelRequest<Body = unknown> {
  /** Null on public routes without a session. */
  readonly caller: Caller | null;
  readonly client: Client;
  /** Parts of the path that the route names, such as `name`; decoded, unchecked. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As the route's schema has read it. */
  readonly body: Body;
  /** As it was sent, for routes that need every digit. */
  readonly bodyText: string;
  /** Body of an upload route, which is not read yet. */
  readonly raw: IncomingMessage;
  /** The guards of the session, the token and the permission once more, after a long body. @throws PanelError */
  readonly judgeAgain: () => Promise<void>;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Sets the subject of the action in the audit log: a bundle, an account, a table. Never a secret. */
  subject(text: string): void;
  /** Values that the action replaced, for the audit log. Never a secret. */
  changes(changes: readonly AuditChange[]): void;
  /** Only looked at: the audit log has the action as `….preview`. */
  previews(): void;
  setCookie(text: string): void;
}

/** Result of a handler. A plain object becomes `{"ok":true, …}`. */
export type Answer = JsonAnswer | RawAnswer;

export type JsonAnswer = Readonly<Record<string, unknown>>;

/** Everything that is no reply of the usual shape: downloads, streams, arrays, cookies. */
export class RawAnswer {
  readonly send: (response: ServerResponse) => void | Promise<void>;

  constructor(send: (response: ServerResponse) => void | Promise<void>) {
    this.send = send;
  }
}

export interface PanelRoute<Schema extends z.ZodType = z.ZodType> {
  readonly method: 'GET' | 'POST';
  /** `/api/bundles/:name/start` */
  readonly path: string;
  readonly access: Access;
  /** Open to an account that has to set a second factor first, too. */
  readonly withoutFactor?: true;
  /** Shape of a POST's JSON body; without it the body must be an empty object, or nothing. */
  readonly body?: Schema;
  /** Key of a refused field by its own name, such as `keep` of `bundles.0.keep`; default: `body.malformed`. */
  readonly badField?: (name: string) => ErrorKey;
  /** The handler reads the body itself, which may take an hour. */
  readonly isUpload?: true;
  /** Action in the audit log, such as `server.start`; each call is written down with its result. Every POST that changes has one. */
  readonly audit?: string;
  /** Refuses a call before the body is read: a feature that is off (409), a setup that is done (404). */
  readonly gate?: (request: Omit<PanelRequest<never>, 'body' | 'bodyText'>) => void;
  readonly handle: (request: PanelRequest<z.output<Schema>>) => Answer | Promise<Answer>;
}

/** Keeps the type of the body through a list of routes. */
export function route<Schema extends z.ZodType>(definition: PanelRoute<Schema>): PanelRoute {
  return definition as unknown as PanelRoute;
}

/** Whether an account with these permissions may call the route. */
export function mayCall(access: Access, permissions: ReadonlySet<Permission>): boolean {
  switch (access.kind) {
    case 'public':
    case 'authenticated':
      return true;
    case 'all':
      return access.permissions.every((name) => permissions.has(name));
    case 'any':
      return access.permissions.some((name) => permissions.has(name));
    default:
      return access satisfies never;
  }
}

/** Permissions of a token: listed, and held by its maker at this moment. */
export function narrowed(held: ReadonlySet<Permission>, listed: ReadonlySet<Permission>): ReadonlySet<Permission> {
  return new Set([...listed].filter((name) => held.has(name)));
}

/** Account of a guarded route, which has one. */
export function callerOf({ caller }: Pick<PanelRequest, 'caller'>): Caller {
  if (caller === null) throw new PanelError('session.missing');
  return caller;
}

/** Name of the account for the console, and of the token that it calls with. */
export function actorOf({ caller }: Pick<PanelRequest, 'caller'>): string {
  const { username = '', token = null } = caller ?? {};
  return token === null ? username : `${username} (${token.name})`;
}
