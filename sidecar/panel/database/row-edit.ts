import { COLUMN_TYPES, type Column } from '#protocol/columns.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '#protocol/json.ts';
import { parsePayload } from '#protocol/payload-reader.ts';
import type { Table } from '#protocol/schema.ts';
import { writeValue } from '#protocol/values.ts';
import type { CallContext } from '#sidecar/data/call-context.ts';
import { columnsOf } from '#sidecar/data/table-columns.ts';
import { parseUpdate } from '#sidecar/data/write-of.ts';
import { PanelError } from '../panel-error.ts';
import type { JsonText, RowAnswer, RowRequest } from '../shapes/database.ts';
import type { DatabaseAccess } from './database-access.ts';
import { onDatabase } from './refusals.ts';
import { canonicalText, jsonOf, readPage } from './table-rows.ts';

type RowTexts = Readonly<Record<string, JsonText>>;

/** Below the limit of a filter, which also holds the key. */
const MAX_GUARDED_COLUMNS = 100;
/** A longer value is compared when the row is read, not again by the database. */
const MAX_GUARDED_CHARS = 4000;

/** Changes a row by its key: only if it is still as the page showed it, and only the given columns. */
export class RowEdit {
  readonly #access: DatabaseAccess;

  constructor(access: DatabaseAccess) {
    this.#access = access;
  }

  /** @throws PanelError `database.conflict` if the row has changed meanwhile */
  change(request: RowRequest): Promise<RowAnswer> {
    return onDatabase(async () => {
      const { namespace, table: name } = request;
      parsePayload('count', { namespace, table: name });
      const { table } = await this.#access.parts.catalog.table(namespace, name, this.#access.bounds(), 'write');
      const edit = readEdit(request, table);
      const context = this.#access.context();
      const before = await this.#row(request, edit.key, table, context);
      checkSeen(request.seen, before);
      const after = rowAfter(edit.set, before, table, context.now);
      if (request.preview !== true) await this.#write(request, edit, table, context);
      return { before, after, changed: Object.keys(after).filter((column) => before[column] !== after[column]) };
    });
  }

  async #row(
    { namespace, table: name }: RowRequest,
    key: readonly JsonObject[],
    table: Table,
    context: CallContext,
  ): Promise<RowTexts> {
    const { names } = columnsOf(table);
    const find = parsePayload('find', {
      namespace,
      table: name,
      filter: { and: [...key] },
      fields: [...names],
      limit: 1,
    });
    const [row] = readPage(await this.#access.data.find(find, context)).rows;
    if (row === undefined) throw new PanelError('database.unknown', { detail: 'the row is not there any more' });
    return Object.fromEntries(names.map((column) => [column, writeJson(row[column] ?? null)]));
  }

  /** Not queued: the result must be visible at once. The filter also holds the values that the page showed. */
  async #write(request: RowRequest, edit: Edit, table: Table, context: CallContext): Promise<void> {
    const { namespace, table: name, seen } = request;
    const { capabilities } = this.#access.parts.engine;
    const guards = guardsOf(seen, Object.keys(edit.set), table, capabilities.filterableJson);
    const filter = { and: [...edit.key, ...guards] };
    const update = parsePayload('update', { namespace, table: name, filter, set: edit.set, durability: 'immediate' });
    const result = parseJson(await this.#access.data.update(update, context));
    if (!isJsonObject(result) || result.affected !== 1) throw new PanelError('database.conflict');
  }
}

interface Edit {
  readonly key: readonly JsonObject[];
  readonly set: JsonObject;
}

function readEdit({ key, set, seen }: RowRequest, table: Table): Edit {
  const primaryKey = table.primaryKey ?? [];
  if (primaryKey.length === 0) throw refused('key', 'the table has no primary key, so that no single row can be named');
  const isWhole = Object.keys(key).length === primaryKey.length && primaryKey.every((name) => Object.hasOwn(key, name));
  if (!isWhole) throw refused('key', `key: expected ${primaryKey.join(', ')}`);
  if (Object.keys(set).length === 0) throw refused('set', 'set: expected at least one column');
  const unseen = Object.keys(set).find((name) => !Object.hasOwn(seen, name));
  if (unseen !== undefined) throw refused('seen', `seen: expected what ${unseen} was`);
  return {
    key: primaryKey.map((name) => ({ field: name, op: 'eq', value: jsonOf(key[name] as string, 'key') })),
    set: Object.fromEntries(Object.entries(set).map(([name, text]) => [name, jsonOf(text, 'set')])),
  };
}

function checkSeen(seen: RowTexts, before: RowTexts): void {
  for (const [name, text] of Object.entries(seen)) {
    const now = Object.hasOwn(before, name) ? before[name] : undefined;
    if (now === undefined || now !== canonicalText(text, 'seen'))
      throw new PanelError('database.conflict', { field: name });
  }
}

/** The row after the change, with derived columns and columns that every update sets. */
function rowAfter(set: JsonObject, before: RowTexts, table: Table, now: number): RowTexts {
  const { byName, names } = columnsOf(table);
  const change = parseUpdate({ namespace: '', table: table.name, set }, table, now);
  const after: Record<string, JsonText> = { ...before };
  for (const [name, value] of change.set) {
    if (names.includes(name)) after[name] = writeValue(byName.get(name) as Column, value);
  }
  return after;
}

/** Conditions that the row still has the shown values; the columns to change come first. */
function guardsOf(seen: RowTexts, changed: readonly string[], table: Table, filterableJson: boolean): JsonObject[] {
  const { byName, primaryKey } = columnsOf(table);
  const names = [...new Set([...changed, ...Object.keys(seen)])].filter((name) => !primaryKey.has(name));
  const guards: JsonObject[] = [];
  for (const name of names.slice(0, MAX_GUARDED_COLUMNS)) {
    const column = byName.get(name);
    const text = seen[name] as string;
    if (column === undefined || column.derived !== undefined || text.length > MAX_GUARDED_CHARS) continue;
    const value: Json = jsonOf(text, 'seen');
    const ops: readonly string[] = COLUMN_TYPES[column.type].filterOps;
    if (column.type === 'json' && (!filterableJson || typeof value === 'object')) continue;
    if (value === null) guards.push({ field: name, op: 'isNull', value: true });
    else if (ops.includes('eq')) guards.push({ field: name, op: 'eq', value });
  }
  return guards;
}

function refused(field: string, detail: string): PanelError {
  return new PanelError('database.request', { field, detail });
}
