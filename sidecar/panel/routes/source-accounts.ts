import * as z from 'zod';
import type { Forges } from '../forges/forges.ts';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { SourceAccounts } from '../sources/source-accounts.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface SourceAccountServices {
  readonly settings: PanelSettings;
  readonly sourceAccounts: SourceAccounts;
  readonly forges: Forges;
}

const BASE = '/api/bundle-tools';
const nameAlone = z.strictObject({ name: z.string() });
const draft = z.strictObject({
  name: z.string(),
  kind: z.string(),
  url: z.string(),
  username: z.string().optional(),
  token: z.string().optional(),
});
const account = z.strictObject({ account: z.string() });
const query = z.strictObject({
  account: z.string(),
  owner: z.string(),
  page: z.number().optional(),
  search: z.string().optional(),
});
const OWNER = /^[A-Za-z0-9_](?:[A-Za-z0-9._/-]{0,198}[A-Za-z0-9_-])?$/;
const SEARCH = /^[A-Za-z0-9._ -]{0,100}$/;
const MOST_PAGES = 1000;

/** Accounts at other servers, and what they may see there. */
export function sourceAccountRoutes({ settings, sourceAccounts, forges }: SourceAccountServices): PanelRoute[] {
  const gate = toolsSwitch(settings);
  const manage = { method: 'POST', access: needs('bundles.accounts.manage'), gate } as const;
  const use = { method: 'POST', access: needs('bundles.accounts.use'), gate } as const;
  return [
    route({
      ...{ ...manage, path: `${BASE}/accounts/save`, body: draft, audit: 'bundleTools.accounts.save' },
      handle: ({ body, subject }) => {
        subject(body.name.slice(0, 100));
        sourceAccounts.save(body);
        return {};
      },
    }),
    route({
      ...{ ...manage, path: `${BASE}/accounts/delete`, body: nameAlone, audit: 'bundleTools.accounts.delete' },
      handle: ({ body, subject }) => {
        subject(body.name.slice(0, 100));
        sourceAccounts.remove(body.name);
        return {};
      },
    }),
    route({
      ...{ ...manage, path: `${BASE}/accounts/test`, body: nameAlone, audit: 'bundleTools.accounts.test' },
      handle: async (request) => {
        request.subject(request.body.name.slice(0, 100));
        return { result: await forges.test(callerOf(request).accountId, request.body.name) };
      },
    }),
    route({
      ...{ ...use, path: `${BASE}/remote/owners`, body: account, audit: 'bundleTools.remote' },
      handle: async (request) => {
        request.subject(request.body.account.slice(0, 100));
        return { owners: await forges.owners(callerOf(request).accountId, request.body.account) };
      },
    }),
    route({
      ...{ ...use, path: `${BASE}/remote/repositories`, body: query, audit: 'bundleTools.remote' },
      handle: async (request) => {
        const { account: name, owner, page = 1, search = '' } = request.body;
        request.subject(`${name} ${owner}`.slice(0, 200));
        if (!OWNER.test(owner) || owner.includes('..')) throw fieldFault('owner', 'the name of a user or a group');
        if (!Number.isInteger(page) || page < 1 || page > MOST_PAGES) throw fieldFault('page', `1 to ${MOST_PAGES}`);
        if (!SEARCH.test(search)) throw fieldFault('search', 'at most 100 letters, digits, spaces, dots and hyphens');
        return {
          ...(await forges.repositories(callerOf(request).accountId, name, { owner, page, search: search.trim() })),
        };
      },
    }),
  ];
}

function fieldFault(field: 'owner' | 'page' | 'search', expected: string): PanelError {
  return new PanelError(`bundleTools.${field}`, { field, detail: `expected ${expected}` });
}
