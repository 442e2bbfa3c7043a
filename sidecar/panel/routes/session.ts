import * as z from 'zod';
import { networkOf } from '#sidecar/security/addresses.ts';
import { inOrder } from '../accounts/account-store.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Login } from '../accounts/login.ts';
import type { Sessions } from '../accounts/sessions.ts';
import { CSRF_COOKIE, cookieText, csrfCookieValue, csrfToken, SESSION_COOKIE } from '../http/cookies.ts';
import { jsonAnswer } from '../http/reply.ts';
import {
  AUTHENTICATED,
  type Caller,
  callerOf,
  forTokens,
  type PanelRequest,
  type PanelRoute,
  PUBLIC,
  route,
} from '../http/route.ts';
import type { SessionReader } from '../http/session-reader.ts';
import type { FactorRule } from '../second-factor/factor-rule.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import { LOCALES } from '../shapes/locales.ts';

export interface SessionServices {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly sessionReader: SessionReader;
  readonly login: Login;
  readonly factorRule: FactorRule;
  readonly settings: PanelSettings;
  readonly version: string;
  /** Browsers reach the panel by https. */
  readonly isSecure: boolean;
}

const credentials = z.strictObject({
  username: z.string(),
  password: z.string(),
  remember: z.boolean().default(false),
});

/** Sign-in, sign-out and the session of a browser. */
export function sessionRoutes(services: SessionServices): PanelRoute[] {
  const { accounts, sessions, sessionReader, login, factorRule, settings, version, isSecure } = services;
  const browserOf = (request: Pick<PanelRequest, 'raw'>) => {
    const { session: replaced, csrfCookie } = sessionReader.read(request.raw);
    return { replaced, csrfCookie };
  };
  return [
    route({
      method: 'GET',
      path: '/api/session',
      access: forTokens(PUBLIC),
      handle: (request) => {
        if (request.caller?.token) return jsonAnswer(sessionOf(request.caller, '', factorRule));
        const { caller, token, csrfCookie, isStale } = sessionReader.read(request);
        const cookie = csrfCookieValue(csrfCookie);
        request.setCookie(cookieText(CSRF_COOKIE, cookie, { isSecure }));
        if (isStale) request.setCookie(cookieText(SESSION_COOKIE, '', { isSecure, maxAgeSeconds: 0 }));
        return jsonAnswer(sessionOf(caller, csrfToken(cookie, token), factorRule));
      },
    }),
    route({
      method: 'GET',
      path: '/api/bootstrap',
      access: forTokens(PUBLIC),
      handle: () => {
        const { dashboardName, locale } = settings.values;
        return { setup: accounts.isEmpty, dashboardName, locale, locales: LOCALES, version };
      },
    }),
    route({
      method: 'POST',
      path: '/api/login',
      access: PUBLIC,
      body: credentials,
      handle: async (request) => {
        const { address } = request.client;
        const source = { address, network: networkOf(address) };
        const { token, maxAgeSeconds } = await login.signIn(request.body, source, browserOf(request));
        request.setCookie(cookieText(SESSION_COOKIE, token, { isSecure, maxAgeSeconds }));
        return {};
      },
    }),
    route({
      method: 'POST',
      path: '/api/login/second-factor',
      access: PUBLIC,
      body: z.strictObject({ ticket: z.string().max(64), code: z.string().max(64) }),
      handle: (request) => {
        const { token, maxAgeSeconds } = login.finish(request.body, request.client, browserOf(request));
        request.setCookie(cookieText(SESSION_COOKIE, token, { isSecure, maxAgeSeconds }));
        return {};
      },
    }),
    route({
      method: 'POST',
      path: '/api/logout',
      access: AUTHENTICATED,
      withoutFactor: true,
      audit: 'logout',
      handle: (request) => {
        sessions.end(callerOf(request).sessionId ?? 0, 'logout');
        request.setCookie(cookieText(SESSION_COOKIE, '', { isSecure, maxAgeSeconds: 0 }));
        return {};
      },
    }),
  ];
}

function sessionOf(caller: Caller | null, csrf: string, factorRule: FactorRule) {
  return {
    authenticated: caller !== null,
    username: caller?.username ?? '',
    permissions: caller === null ? [] : inOrder(caller.permissions),
    secondFactor: caller === null ? 'none' : factorRule.stateOf(caller.accountId),
    csrf,
  };
}
