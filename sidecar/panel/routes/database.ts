import * as z from 'zod';
import type { DatabaseServices } from '../database/create-database.ts';
import { forTokens, needs, type PanelRoute, route } from '../http/route.ts';
import type { AuditChange } from '../shapes/accounts.ts';
import {
  type LettersAnswer,
  MAX_LETTERS,
  MAX_PAGE_ROWS,
  type QuarantineChangeAnswer,
  type RowAnswer,
} from '../shapes/database.ts';

const READ = forTokens(needs('database.read'));
const WRITE = forTokens(needs('database.write'));
const MAX_OBJECTS = 100;
const MAX_SORT_KEYS = 20;
/** Maximum characters of a row's key in the audit log. */
const MAX_KEY_CHARS = 120;

const texts = z.record(z.string(), z.string());
const rows = z.strictObject({
  namespace: z.string(),
  table: z.string(),
  filter: z.string().optional(),
  sort: z
    .array(z.strictObject({ field: z.string(), dir: z.enum(['asc', 'desc']) }))
    .max(MAX_SORT_KEYS)
    .optional(),
  limit: z.int().min(1).max(MAX_PAGE_ROWS).optional(),
  offset: z.int().min(0).optional(),
});
const count = z.strictObject({ namespace: z.string(), table: z.string(), filter: z.string().optional() });
const row = z.strictObject({
  namespace: z.string(),
  table: z.string(),
  key: texts,
  set: texts,
  seen: texts,
  preview: z.boolean().optional(),
});
const letters = z.strictObject({ ids: z.array(z.string().min(1).max(200)).min(1).max(MAX_LETTERS) });
const objects = z.strictObject({ ids: z.array(z.int().min(1)).min(1).max(MAX_OBJECTS) });

/** The owner's look into the database. Reading by POST is for filters, which no log of addresses should hold. */
export function databaseRoutes(services: DatabaseServices): PanelRoute[] {
  return [...readingRoutes(services), ...changingRoutes(services)];
}

function readingRoutes(services: DatabaseServices): PanelRoute[] {
  const { namespaceList, tableRows, queueDesk, quarantineDesk, slowCalls, keyUse } = services;
  const get = (path: string, handle: PanelRoute['handle']): PanelRoute =>
    route({ method: 'GET', path, access: READ, handle });
  return [
    get('/api/database/namespaces', async () => ({ ...(await namespaceList.read()) })),
    route({
      method: 'POST',
      path: '/api/database/rows',
      access: READ,
      body: rows,
      handle: async (request) => ({ ...(await tableRows.read(given(request.body))) }),
    }),
    route({
      method: 'POST',
      path: '/api/database/count',
      access: READ,
      body: count,
      handle: async (request) => ({ ...(await tableRows.count(given(request.body))) }),
    }),
    get('/api/database/queue', async () => ({ ...(await queueDesk.read()) })),
    get('/api/database/quarantine', async () => ({ ...(await quarantineDesk.read()) })),
    get('/api/database/slow', () => ({ ...slowCalls.read() })),
    get('/api/database/keys', () => ({ ...keyUse.read() })),
  ];
}

function changingRoutes(services: DatabaseServices): PanelRoute[] {
  const { queueDesk, quarantineDesk } = services;
  return [
    rowRoute(services),
    lettersRoute('retry', (ids) => queueDesk.retry(ids)),
    lettersRoute('discard', (ids) => queueDesk.discard(ids)),
    quarantineRoute('restore', (ids) => quarantineDesk.restore(ids)),
    quarantineRoute('purge', (ids) => quarantineDesk.purge(ids)),
  ];
}

function rowRoute({ rowEdit }: DatabaseServices): PanelRoute {
  return route({
    method: 'POST',
    path: '/api/database/row',
    access: WRITE,
    audit: 'database.row',
    body: row,
    handle: async (request) => {
      const { namespace, table, key, seen, preview } = request.body;
      request.subject(`${namespace}.${table} ${keyText(key)}`);
      if (preview === true) request.previews();
      const answer = await rowEdit.change(given(request.body));
      if (preview !== true) request.changes(changesOf(answer));
      if (request.caller?.permissions.has('database.read') === true) return { ...answer };
      const known = new Set([...Object.keys(key), ...Object.keys(seen)]);
      return {
        before: only(known, answer.before),
        after: only(known, answer.after),
        changed: answer.changed.filter((name) => known.has(name)),
      };
    },
  });
}

/** `id=7`, as the audit log names a row. */
function keyText(key: Readonly<Record<string, string>>): string {
  const parts = Object.entries(key).map(([name, text]) => `${name}=${text}`);
  return parts.join(' ').slice(0, MAX_KEY_CHARS);
}

function changesOf({ before, after, changed }: RowAnswer): AuditChange[] {
  return changed.map((name) => ({ name, before: before[name] ?? 'null', after: after[name] ?? 'null' }));
}

/** An account that may change rows but not read them sees only the columns it has sent. */
function only(names: ReadonlySet<string>, cells: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(cells).filter(([name]) => names.has(name)));
}

function lettersRoute(action: string, change: (ids: readonly string[]) => Promise<LettersAnswer>): PanelRoute {
  return route({
    method: 'POST',
    path: `/api/database/dead-letters/${action}`,
    access: WRITE,
    audit: `database.dead-letters.${action}`,
    body: letters,
    handle: async (request) => {
      request.subject(request.body.ids.join(' '));
      return { ...(await change(request.body.ids)) };
    },
  });
}

function quarantineRoute(
  action: string,
  change: (ids: readonly number[]) => Promise<QuarantineChangeAnswer>,
): PanelRoute {
  return route({
    method: 'POST',
    path: `/api/database/quarantine/${action}`,
    access: WRITE,
    audit: `database.quarantine.${action}`,
    body: objects,
    handle: async (request) => {
      request.subject(request.body.ids.join(' '));
      return { ...(await change(request.body.ids)) };
    },
  });
}

/** The body without properties that are undefined. */
function given<T extends object>(body: T) {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>;
  };
}
