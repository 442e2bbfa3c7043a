/** What a bundle imports: `import { Database, Q } from '../db_connector/helper.js'`. */
export type { AsyncDatabase } from './async-database.ts';
export { type Builders, Q } from './builders.ts';
export { Database, type OperationName } from './database.ts';
export type { ExactNumber } from './exact-number.ts';
export type { Condition, Filter, JsonText, Scalar } from './filters.ts';
export type {
  BundleEvent,
  BundleState,
  DatabaseHost,
  ExportCall,
  Host,
  HostCommands,
  HostExports,
} from './host.ts';
export type { Change, Query, Selection, SyncOptions, WriteOptions } from './payloads.ts';
export type { DbRow, DbValue, Flushed } from './readers.ts';
export type { DbCallback, DbResult, DbTicket } from './result.ts';
export type { Row, Sort, SortField, SortTerm } from './rows.ts';
export type {
  AnyColumnOptions,
  ColumnDeclaration,
  ColumnOptions,
  ColumnTypeName,
  IndexDeclaration,
  Schema,
  TableDeclaration,
  TableOptions,
} from './schema.ts';
