import type { Capabilities } from '#engine/engine.ts';
import { COLUMN_TYPES, type Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { isJsonObject, type Json, JsonError, type JsonObject, parseJson, writeJson } from '#protocol/json.ts';
import { parsePayload } from '#protocol/payload-reader.ts';
import type { Table } from '#protocol/schema.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { columnsOf } from '#sidecar/data/table-columns.ts';
import { PanelError } from '../panel-error.ts';
import type { ColumnInfo, CountAnswer, RowsAnswer, RowsRequest } from '../shapes/database.ts';
import type { DatabaseAccess, DataHandlers } from './database-access.ts';
import { onDatabase } from './refusals.ts';

const DEFAULT_LIMIT = 50;
/** Limit of one count; a table that takes longer gets an estimate. */
const COUNT_MS = 1000;

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
      const { text, isBehind } = await this.#reading(async (data) =>
        data.find({ ...payload, fields: names }, this.#access.context()),
      );
      const { rows, hasMore } = readPage(text);
      const texts = rows.map((row) => names.map((name) => writeJson(row[name] ?? null)));
      return { columns, key: target.table.primaryKey ?? [], rows: texts, hasMore, isBehind };
    });
  }

  /** Number of rows that a filter finds: counted in bounded time, else the estimate of the whole table. */
  count({ namespace, table, filter = '' }: Pick<RowsRequest, 'namespace' | 'table' | 'filter'>): Promise<CountAnswer> {
    return onDatabase(async () => {
      const isFiltered = filter.trim() !== '';
      const payload = parsePayload('count', {
        ...{ namespace, table },
        ...(isFiltered ? { filter: jsonOf(filter, 'filter') } : {}),
      });
      try {
        const { text } = await this.#reading((data) => data.count(payload, this.#access.context(COUNT_MS)));
        return { rows: readCount(text), isEstimate: false };
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'database_timeout') throw error;
        return isFiltered ? { rows: null, isEstimate: false } : this.#estimate(namespace, table);
      }
    });
  }

  async #estimate(namespace: string, table: string): Promise<CountAnswer> {
    const [size] = await this.#access.parts.engine.tableSizes(namespace, [table], this.#access.bounds(COUNT_MS));
    return { rows: size?.rows ?? null, isEstimate: size?.isEstimate ?? false };
  }

  /** A halted queue must not hide the rows: read without its writes then. */
  async #reading(
    read: (data: DataHandlers) => Promise<string>,
  ): Promise<{ readonly text: string; readonly isBehind: boolean }> {
    try {
      return { text: await read(this.#access.data), isBehind: false };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'write_buffer_halted') throw error;
      return { text: await read(this.#access.behind), isBehind: true };
    }
  }
}

/** Parsed so that numbers keep their digits. */
export function readPage(text: string): { readonly rows: readonly JsonObject[]; readonly hasMore: boolean } {
  const page = parseJson(text);
  if (!isJsonObject(page) || !Array.isArray(page.rows)) throw new Error('a page without rows');
  return { rows: page.rows.filter((row: Json) => isJsonObject(row)), hasMore: page.hasMore === true };
}

function readCount(text: string): number {
  const answer = parseJson(text);
  if (!isJsonObject(answer) || typeof answer.count !== 'number') throw new Error('a count without its number');
  return answer.count;
}

/** Columns in the order of the declaration, without those that are still being filled. */
function columnInfos(table: Table, capabilities: Capabilities): ColumnInfo[] {
  const { names, byName, primaryKey } = columnsOf(table);
  return names.map((name) => infoOf(byName.get(name) as Column, primaryKey.has(name), capabilities));
}

function infoOf(column: Column, isKey: boolean, { filterableJson }: Capabilities): ColumnInfo {
  const { name, type, nullable, length, oneOf } = column;
  const facts = COLUMN_TYPES[type];
  return {
    ...{ name, type, nullable },
    ...(length === undefined ? {} : { length }),
    ...(type === 'decimal' ? { precision: decimalPrecision(column), scale: decimalScale(column) } : {}),
    ...(oneOf === undefined ? {} : { oneOf }),
    isKey,
    isUnique: column.unique,
    isEditable: !isKey && column.derived === undefined,
    filterOps: type === 'json' && !filterableJson ? [] : facts.filterOps,
    isSortable: facts.isSortable,
  };
}

/** @throws PanelError that names the field, if the text is not strict JSON */
export function jsonOf(text: string, field: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new PanelError('database.request', { field, detail: `${field}: ${error.message}` });
  }
}

/** Equal values have equal texts, except for the order of properties in JSON. */
export function canonicalText(text: string, field: string): string {
  return writeJson(jsonOf(text, field));
}
