import * as z from 'zod';
import { networkOf } from '#sidecar/security/addresses.ts';
import type { PasswordCheck } from '../accounts/password-check.ts';
import { AUTHENTICATED, callerOf, type PanelRoute, route } from '../http/route.ts';
import type { Tokens } from '../tokens/tokens.ts';

export interface TokenServices {
  readonly tokens: Tokens;
  readonly passwordCheck: PasswordCheck;
}

/** Values are judged by their own errors. */
const draft = z.strictObject({
  name: z.unknown().optional(),
  permissions: z.unknown().optional(),
  addresses: z.unknown().optional(),
  expiresAt: z.unknown().optional(),
  password: z.string(),
});

/** Tokens of accounts. No token makes, sees or revokes one. */
export function tokenRoutes({ tokens, passwordCheck }: TokenServices): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/tokens',
      access: AUTHENTICATED,
      handle: (request) => ({ tokens: tokens.list(callerOf(request).accountId) }),
    }),
    route({
      method: 'POST',
      path: '/api/tokens/create',
      access: AUTHENTICATED,
      body: draft,
      audit: 'tokens.create',
      handle: async (request) => {
        const { accountId } = callerOf(request);
        const { password, ...fields } = request.body;
        tokens.check(accountId, fields);
        await passwordCheck.confirm(accountId, password, networkOf(request.client.address));
        const { id, name, token } = tokens.create(accountId, fields);
        request.subject(name);
        return { id, token };
      },
    }),
    route({
      method: 'POST',
      path: '/api/tokens/revoke',
      access: AUTHENTICATED,
      body: z.strictObject({ id: z.int().min(1) }),
      audit: 'tokens.revoke',
      handle: (request) => {
        request.subject(tokens.revoke(callerOf(request).accountId, request.body.id));
        return {};
      },
    }),
  ];
}
