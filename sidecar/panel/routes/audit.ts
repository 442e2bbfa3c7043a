import type { AuditLog } from '../audit/audit-log.ts';
import { needs, type PanelRoute, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';

const DEFAULT_ENTRIES = 100;
const MOST_ENTRIES = 1000;
const MAX_NAME_CHARS = 32;

/** Read only: nothing that an account can send changes what was written down. */
export function auditRoutes({ audit }: { readonly audit: AuditLog }): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/audit',
      access: needs('users.manage'),
      handle: ({ query, caller }) => {
        const before = numberOf(query, 'cursor', Number.MAX_SAFE_INTEGER);
        const limit = numberOf(query, 'limit', MOST_ENTRIES) ?? DEFAULT_ENTRIES;
        const username = query.get('username');
        if (username !== null && username.length > MAX_NAME_CHARS) refuse('username');
        const hasRowValues = caller?.permissions.has('database.read') === true;
        const read = audit.page(before, limit + 1, { username, hasRowValues });
        const entries = read.slice(0, limit);
        const more = read.length > limit;
        const page = { entries, cursor: more ? String(entries.at(-1)?.id) : null, more };
        return before === null ? { ...page, usernames: audit.usernames() } : page;
      },
    }),
  ];
}

function numberOf(query: URLSearchParams, name: string, most: number): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) refuse(name);
  return value;
}

function refuse(field: string): never {
  throw new PanelError('body.malformed', { field });
}
