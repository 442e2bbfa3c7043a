import { type AggregateBuilders, aggregateBuilders } from './aggregates.ts';
import { type ClockBuilders, clockBuilders } from './clock.ts';
import { type FilterBuilders, filterBuilders } from './filters.ts';
import { type BatchBuilders, batchBuilders } from './operations.ts';
import { type RowBuilders, rowBuilders } from './rows.ts';
import { type SchemaBuilders, schemaBuilders } from './schema.ts';

export interface Builders
  extends FilterBuilders,
    RowBuilders,
    SchemaBuilders,
    BatchBuilders,
    AggregateBuilders,
    ClockBuilders {}

/** Builders of filters, rows, sorting, writes of a batch, values of an aggregate and schemas. Texts have every value escaped. */
export const Q: Builders = Object.freeze({
  ...filterBuilders,
  ...rowBuilders,
  ...schemaBuilders,
  ...batchBuilders,
  ...aggregateBuilders,
  ...clockBuilders,
});
