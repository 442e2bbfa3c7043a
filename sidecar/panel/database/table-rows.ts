import { ApiError } from '#protocol/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '#protocol/json.ts';
import { type PayloadOf, parsePayload } from '#protocol/payloads.ts';
import type { RowsAnswer, RowsRequest } from '../shapes/database.ts';
import { jsonOf } from './cell-text.ts';
import { columnInfos } from './column-infos.ts';
import type { DatabaseAccess } from './database-access.ts';
import { onDatabase } from './refusals.ts';

const DEFAULT_LIMIT = 50;

/** Pages of a table, by the filter language of the API. */
export class TableRows {
  readonly #access: DatabaseAccess;

  constructor(access: DatabaseAccess) {
    this.#access = access;
  }

  read({ namespace, table, filter = '', sort, limit = DEFAULT_LIMIT, offset = 0 }: RowsRequest): Promise<RowsAnswer> {
    const { engine, catalog } = this.#access.parts;
    return onDatabase(async () => {
      const asked: JsonObject = { namespace, table, limit, offset };
      if (filter.trim() !== '') asked.filter = jsonOf(filter, 'filter');
      if (sort !== undefined && sort.length > 0) asked.sort = sort.map(({ field, dir }) => ({ field, dir }));
      // Names are checked before anything is looked up by them.
      const payload = parsePayload('find', asked);
      const target = await catalog.table(namespace, table, this.#access.bounds(), 'read');
      const columns = columnInfos(target.table, engine.capabilities);
      const names = columns.map(({ name }) => name);
      const { page, isBehind } = await this.#find({ ...payload, fields: names });
      const { rows, hasMore } = readPage(page);
      const texts = rows.map((row) => names.map((name) => writeJson(row[name] ?? null)));
      return { columns, key: target.table.primaryKey ?? [], rows: texts, hasMore, isBehind };
    });
  }

  /** A queue that stands still is no reason to show nothing: whoever looks then may look for why. */
  async #find(payload: PayloadOf<'find'>): Promise<{ readonly page: string; readonly isBehind: boolean }> {
    try {
      return { page: await this.#access.data.find(payload, this.#access.context()), isBehind: false };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'write_buffer_halted') throw error;
      return { page: await this.#access.behind.find(payload, this.#access.context()), isBehind: true };
    }
  }
}

/** Numbers keep their digits. */
export function readPage(text: string): { readonly rows: readonly JsonObject[]; readonly hasMore: boolean } {
  const page = parseJson(text);
  if (!isJsonObject(page) || !Array.isArray(page.rows)) throw new Error('a page without rows');
  return { rows: page.rows.filter((row: Json) => isJsonObject(row)), hasMore: page.hasMore === true };
}
