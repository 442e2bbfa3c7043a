import { ApiError } from '#protocol/errors.ts';
import { countOf, type PayloadOf } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';
import { parseSort } from '#protocol/sort.ts';
import { sumTooLarge } from '../engine/model/aggregate.ts';
import type { FindQuery, Page } from '../engine/rows.ts';
import { type CallContext, drainDeadline } from './call-context.ts';
import { DataCalls, type DataOptions } from './data-calls.ts';
import { parseAggregate } from './parse-aggregate.ts';
import { readFilter } from './read-filter.ts';
import { columnAt, columnsOf } from './table-columns.ts';
import { Writes } from './writes.ts';

/**
 * The data operations (contract section 5); each returns the JSON text of its result. The API has checked permission for
 * the operation and the namespace; unfiltered writes are checked here, before anything is looked up.
 */
export function createDataHandlers(options: DataOptions) {
  const { engine, catalog, gate, queue } = options;
  const calls = new DataCalls(options);
  const writes = new Writes(options, calls);

  /** Older queued writes of the namespace are read too (contract section 7). */
  async function drainForRead(namespace: string, context: CallContext): Promise<void> {
    if (queue?.hasConsistentReads(namespace)) await queue.drain(namespace, drainDeadline(context));
  }

  return {
    find(payload: PayloadOf<'find'>, context: CallContext): string | Promise<string> {
      const find = () =>
        calls.onTable(payload, 'read', context, (target, bounds) =>
          engine.find(target, parseFind(payload, target.table, options), bounds),
        );
      const page = queue?.hasConsistentReads(payload.namespace)
        ? drainForRead(payload.namespace, context).then(find)
        : find();
      return page instanceof Promise ? page.then(pageResult) : pageResult(page);
    },

    async count(payload: PayloadOf<'count'>, context: CallContext): Promise<string> {
      await drainForRead(payload.namespace, context);
      const count = await calls.onTable(payload, 'read', context, async (target, bounds) =>
        engine.count(target, readFilter(payload.filter, target.table, engine.capabilities), bounds),
      );
      return `{"count":${count}}`;
    },

    async aggregate(payload: PayloadOf<'aggregate'>, context: CallContext): Promise<string> {
      await drainForRead(payload.namespace, context);
      const page = await calls.onTable(payload, 'read', context, async (target, bounds) => {
        const query = parseAggregate(payload, target.table, {
          capabilities: engine.capabilities,
          limits: options.limits,
        });
        return engine.aggregate(target, query, bounds).catch((error: unknown) => {
          // No other value can be out of range here, and servers speak of writes.
          throw error instanceof ApiError && error.code === 'invalid_value' ? sumTooLarge() : error;
        });
      });
      return pageResult(page);
    },

    insert(payload: PayloadOf<'insert'>, context: CallContext): Promise<string> {
      return writes.run('insert', payload, context);
    },

    update(payload: PayloadOf<'update'>, context: CallContext): Promise<string> {
      checkSelection(payload, context);
      return writes.run('update', payload, context);
    },

    upsert(payload: PayloadOf<'upsert'>, context: CallContext): Promise<string> {
      return writes.run('upsert', payload, context);
    },

    delete(payload: PayloadOf<'delete'>, context: CallContext): Promise<string> {
      checkSelection(payload, context);
      return writes.run('delete', payload, context);
    },

    batch(payload: PayloadOf<'batch'>, context: CallContext): Promise<string> {
      payload.operations.forEach((operation, index) => {
        if ('all' in operation) inOperation(index, () => checkSelection(operation, context));
      });
      return writes.batch(payload, context);
    },

    /** Without write-behind there is nothing to apply (the specification's rule 10). */
    async flush({ namespace }: PayloadOf<'flush'>, context: CallContext): Promise<string> {
      const bounds = calls.bounds(context);
      if (!queue?.mustDrain(namespace)) {
        await gate.run(namespace, () => catalog.get(namespace, bounds));
        return '{"flushed":0,"deadLettered":0,"remaining":0,"halted":false,"enabled":false}';
      }
      await gate.run(namespace, () => catalog.getForQueue(namespace, bounds));
      return JSON.stringify(await queue.flush(namespace, drainDeadline(context)));
    },
  };
}

function pageResult({ rows, hasMore }: Page): string {
  return `{"rows":${rows},"hasMore":${hasMore}}`;
}

function parseFind(payload: PayloadOf<'find'>, table: Table, { limits, engine }: DataOptions): FindQuery {
  const { filter, fields, sort, limit, offset } = payload;
  const columns = columnsOf(table);
  fields?.forEach((name, i) => {
    columnAt(columns, name, `fields[${i}]`);
  });
  return {
    filter: readFilter(filter, table, engine.capabilities),
    fields: fields ?? columns.names,
    sort: sort === undefined ? [] : parseSort(sort, table),
    limit: Math.min(limit === undefined ? limits.maxRows : countOf(limit), limits.maxRows),
    offset: offset === undefined ? 0 : countOf(offset),
    maxBytes: limits.maxAnswerBytes,
  };
}

function inOperation(index: number, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof ApiError ? error.inOperation(index) : error;
  }
}

/** The permission for unfiltered writes is checked before 404, as all permissions are. */
function checkSelection(
  { filter, all }: Pick<PayloadOf<'update' | 'delete'>, 'filter' | 'all'>,
  context: CallContext,
): void {
  if (all !== true) return;
  if (filter !== undefined) throw new ApiError('invalid_request', 'all: expected either a filter or all, not both');
  if (!context.allowUnfilteredWrites) throw new ApiError('forbidden', 'the key may not write without a filter');
}
