import type { AuditLog } from '../audit/audit-log.ts';
import { needs, type PanelRoute, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';

const DEFAULT_ENTRIES = 100;
const MOST_ENTRIES = 1000;

/** Read only: nothing that an account can send changes what was written down. */
export function auditRoutes({ audit }: { readonly audit: AuditLog }): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/audit',
      access: needs('users.manage'),
      handle: ({ query }) => {
        const before = numberOf(query, 'cursor', Number.MAX_SAFE_INTEGER);
        const limit = numberOf(query, 'limit', MOST_ENTRIES) ?? DEFAULT_ENTRIES;
        const read = audit.page(before, limit + 1);
        const entries = read.slice(0, limit);
        const more = read.length > limit;
        return { entries, cursor: more ? String(entries.at(-1)?.id) : null, more };
      },
    }),
  ];
}

function numberOf(query: URLSearchParams, name: string, most: number): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) throw new PanelError('body.malformed', { field: name });
  return value;
}
