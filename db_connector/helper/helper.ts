/** Exports for bundles: `import { Database, Q } from '../db_connector/helper.js'`. */

export type { AggregateValue } from './aggregates.ts';
export type { AsyncDatabase, OperationName } from './async-database.ts';
export { type Builders, Q } from './builders.ts';
export type { DbConnectorExports } from './connector-exports.ts';
export { Database } from './database.ts';
export { DatabaseError } from './database-error.ts';
export type { Condition, Filter, Scalar } from './filters.ts';
export type { AllQuery } from './find-all.ts';
export type { Relation } from './find-with.ts';
export type {
  BundleEvent,
  BundleState,
  DatabaseHost,
  ExportCall,
  Host,
  HostCommands,
  HostExports,
} from './host.ts';
export type { AsyncNamespace, NamespaceDatabase } from './namespace-database.ts';
export type { Expectation, Operation } from './operations.ts';
export type { AggregateQuery, BatchOptions, Query, SyncOptions, UpsertOptions, WriteOptions } from './payloads.ts';
export type { Flushed } from './readers.ts';
export type {
  DbCallback,
  DbResult,
  DbTicket,
  FirstResult,
  InsertAllResult,
  PageResult,
  ValueResult,
} from './result.ts';
export type { Row, Sort, SortField, SortTerm } from './rows.ts';
export type { IndexDeclaration, Schema, TableDeclaration, TableOptions } from './schema.ts';
export type {
  AnyColumnOptions,
  ColumnDeclaration,
  ColumnOptions,
  ColumnTypeName,
  DerivedOptions,
} from './schema-columns.ts';
export type { DbRow, DbValue, NewRowOf, RowOf } from './typed-rows.ts';
export type { ExactNumber, JsonText, ResultReference, Text } from './typed-text.ts';
export type { Change, Existing, Increments, Selection } from './writes.ts';
