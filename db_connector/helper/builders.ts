import { type FilterBuilders, filterBuilders } from './filters.ts';
import { type RowBuilders, rowBuilders } from './rows.ts';
import { type SchemaBuilders, schemaBuilders } from './schema.ts';

export interface Builders extends FilterBuilders, RowBuilders, SchemaBuilders {}

/** Builders of filters, rows, sorting and schemas. Each returns JSON text with every value escaped. */
export const Q: Builders = Object.freeze({ ...filterBuilders, ...rowBuilders, ...schemaBuilders });
