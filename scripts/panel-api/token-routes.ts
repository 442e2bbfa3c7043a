import * as z from 'zod';
import { panelRoutes } from '#panel/app.ts';
import type { PanelRoute } from '#panel/http/route.ts';
import type { PanelServices } from '#panel/services.ts';
import { DESCRIPTIONS, type Description } from './descriptions.ts';

export interface TokenRoute extends Description {
  readonly method: 'GET' | 'POST';
  /** `/api/bundles/{name}/start` */
  readonly path: string;
  readonly parameters: readonly string[];
  /** `all` or `any` of these; an empty list: every token. */
  readonly needs: { readonly kind: 'all' | 'any'; readonly permissions: readonly string[] };
  /** JSON schema of the body, or null. */
  readonly body: Record<string, unknown> | null;
}

/** Routes of the panel that tokens may call, in the order of their paths. @throws Error for a route without its words */
export function tokenRoutes(): TokenRoute[] {
  const open = panelRoutes(nothing() as PanelServices).filter(({ access }) => access.token === true);
  const names = new Set(open.map(nameOf));
  const stale = Object.keys(DESCRIPTIONS).find((name) => !names.has(name));
  if (stale !== undefined) throw new Error(`scripts/panel-api/descriptions.ts: no route for tokens is ${stale}`);
  return open.map(describe).toSorted((a, b) => order(a).localeCompare(order(b), 'en'));
}

function describe(route: PanelRoute): TokenRoute {
  const { method, path, access, body } = route;
  const words = DESCRIPTIONS[nameOf(route)];
  if (words === undefined) throw new Error(`scripts/panel-api/descriptions.ts: add a line for ${nameOf(route)}`);
  return {
    ...words,
    method,
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    parameters: [...path.matchAll(/:(\w+)/g)].map(([, name]) => String(name)),
    needs:
      'permissions' in access
        ? { kind: access.kind, permissions: access.permissions }
        : { kind: 'all', permissions: [] },
    body: body === undefined ? null : schemaOf(body),
  };
}

function schemaOf(body: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io: 'input' });
  return schema;
}

function nameOf({ method, path }: PanelRoute): string {
  return `${method} ${path}`;
}

function order({ path, method }: TokenRoute): string {
  return `${path} ${method}`;
}

/** Stands for every service: a table of routes reads them, and calls none before a request. */
function nothing(): object {
  return new Proxy(() => {}, { get: () => nothing(), apply: () => nothing() });
}
