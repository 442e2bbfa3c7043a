import * as z from 'zod';
import { networkOf } from '#sidecar/security/addresses.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { PasswordCheck } from '../accounts/password-check.ts';
import type { Sessions } from '../accounts/sessions.ts';
import { AUTHENTICATED, callerOf, needs, type PanelRequest, type PanelRoute, route } from '../http/route.ts';
import type { FactorRule } from '../second-factor/factor-rule.ts';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import type { FactorView } from '../shapes/second-factor.ts';

export interface SecondFactorServices {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly secondFactors: SecondFactors;
  readonly factorRule: FactorRule;
  readonly passwordCheck: PasswordCheck;
}

const code = z.string().max(64);
const password = z.strictObject({ password: z.string() });
const both = z.strictObject({ password: z.string(), code });

/** The own account's second factor, and its removal by a manager of accounts. */
export function secondFactorRoutes(services: SecondFactorServices): PanelRoute[] {
  const { secondFactors, factorRule, sessions, passwordCheck } = services;
  const own = { access: AUTHENTICATED, withoutFactor: true } as const;
  const confirm = (request: PanelRequest<{ readonly password: string }>) =>
    passwordCheck.confirm(callerOf(request).accountId, request.body.password, networkOf(request.client.address));
  /** A stolen session does not outlive the change. */
  const endOthers = (request: PanelRequest<unknown>) => {
    const { accountId, sessionId } = callerOf(request);
    sessions.endOfAccount(accountId, sessionId);
  };
  return [
    route({
      ...{ method: 'GET', path: '/api/second-factor', ...own },
      handle: (request) => ({ ...viewOf(callerOf(request).accountId, secondFactors, factorRule) }),
    }),
    route({
      ...{ method: 'POST', path: '/api/second-factor/totp/begin', ...own },
      ...{ body: password, audit: 'second-factor.totp.begin' },
      handle: async (request) => ({ ...secondFactors.begin(await confirm(request)) }),
    }),
    route({
      ...{ method: 'POST', path: '/api/second-factor/totp/confirm', ...own },
      ...{ body: z.strictObject({ code }), audit: 'second-factor.totp.confirm' },
      handle: (request) => {
        const recoveryCodes = secondFactors.confirm(callerOf(request).accountId, request.body.code);
        endOthers(request);
        return { recoveryCodes };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/second-factor/totp/remove', ...own },
      ...{ body: both, audit: 'second-factor.totp.remove' },
      handle: async (request) => {
        const { id } = await confirm(request);
        secondFactors.remove(id, request.body.code);
        endOthers(request);
        return {};
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/second-factor/recovery', ...own },
      ...{ body: both, audit: 'second-factor.recovery' },
      handle: async (request) => {
        const { id } = await confirm(request);
        return { recoveryCodes: secondFactors.renewCodes(id, request.body.code) };
      },
    }),
    resetRoute(services),
  ];
}

function resetRoute({ accounts, secondFactors, sessions }: SecondFactorServices): PanelRoute {
  return route({
    ...{ method: 'POST', path: '/api/users/second-factor/reset', access: needs('users.manage') },
    ...{ body: z.strictObject({ username: z.string() }), audit: 'users.second-factor.reset' },
    handle: (request) => {
      request.subject(request.body.username);
      const { id, username } = accounts.checkFactorReset(callerOf(request).accountId, request.body.username);
      request.subject(username);
      secondFactors.reset(id, callerOf(request).accountId);
      sessions.endOfAccount(id);
      return {};
    },
  });
}

function viewOf(accountId: number, factors: SecondFactors, rule: FactorRule): FactorView {
  return {
    totp: factors.isSet(accountId),
    recoveryCodes: factors.recoveryCodesLeft(accountId),
    passkeys: [],
    required: rule.isAsked(accountId),
    passkeysPossible: false,
  };
}
