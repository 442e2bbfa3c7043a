import { Readable } from 'node:stream';
import * as z from 'zod';
import type { RowExchange } from '../database/row-exchange.ts';
import { sendStream } from '../http/reply.ts';
import { callerOf, needs, type PanelRoute, RawAnswer, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';

const READ = needs('database.read');
const WRITE = needs('database.write');
const FORMATS = ['csv', 'jsonl'] as const;
const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const;
const wish = z.strictObject({
  ...{ namespace: z.string(), table: z.string(), format: z.enum(FORMATS) },
  ...{ filter: z.string().optional(), escapeFormulas: z.boolean().optional() },
});

/** Rows of a table as CSV or JSON lines, out and in. */
export function rowExchangeRoutes({ rowExchange }: { readonly rowExchange: RowExchange }): PanelRoute[] {
  return [
    route({
      ...{ method: 'POST', path: '/api/database/export', access: READ, body: wish, audit: 'database.export' },
      handle: async (request) => {
        const { filter = null, escapeFormulas = false, ...place } = request.body;
        request.subject(`${place.namespace}.${place.table}`.slice(0, 200));
        const { accountId } = callerOf(request);
        return { download: await rowExchange.ticketFor({ ...place, filter, escapeFormulas }, accountId) };
      },
    }),
    route({
      ...{ method: 'GET', path: '/api/database/export/:download', access: READ },
      handle: async (request) => {
        const chosen = rowExchange.redeem(request.params.download ?? '', callerOf(request).accountId);
        const texts = await rowExchange.export(chosen);
        return new RawAnswer((response) => {
          response.writeHead(200, {
            'content-type': TYPES[chosen.format],
            'content-disposition': `attachment; filename="${chosen.namespace}.${chosen.table}.${chosen.format}"`,
          });
          return sendStream(Readable.from(texts), response);
        });
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/database/import', access: WRITE, isUpload: true, audit: 'database.import' },
      handle: async (request) => {
        const { query, raw, judgeAgain, signal } = request;
        const [namespace, table] = [query.get('namespace') ?? '', query.get('table') ?? ''];
        request.subject(`${namespace}.${table}`.slice(0, 200));
        const format = FORMATS.find((known) => known === query.get('format'));
        if (format === undefined) throw new PanelError('database.request', { field: 'format', detail: 'csv or jsonl' });
        const run = { caller: callerOf(request), judgeAgain, signal };
        return { ...(await rowExchange.import(raw, { namespace, table, format }, run)) };
      },
    }),
  ];
}
