import { API_ERRORS, type ApiErrorCode, type ErrorRow } from '#protocol/errors.ts';
import { OPERATIONS, type OperationName } from '#protocol/operations.ts';
import { componentRef, type Node } from './json-schema.ts';

const EVERYWHERE = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'https_required',
  'payload_too_large',
  'rate_limited',
  'internal_error',
  'timeout',
] as const satisfies readonly ApiErrorCode[];

const WITH_NAMESPACE = ['invalid_identifier', 'sync_in_progress', 'database_error', 'database_timeout'] as const;
const WITH_TABLE = ['namespace_unknown', 'unknown_table'] as const;
const WITH_FILTER = ['invalid_filter', 'unknown_column', 'write_buffer_halted'] as const;
const WITH_VALUES = ['unknown_column', 'invalid_value', 'value_too_long', 'constraint_violation'] as const;
const WRITES = [
  'conflict_retry',
  'idempotency_conflict',
  'write_buffer_full',
  'write_buffer_unavailable',
  'write_buffer_halted',
] as const;
const SYNC = [
  'invalid_schema',
  'destructive_denied',
  'data_does_not_fit',
  'unsupported_change',
  'conflict_retry',
  'write_buffer_halted',
] as const;

/** Codes of an operation beside those of every one, and beside those that its facts bring. */
const OWN: Record<OperationName, readonly ApiErrorCode[]> = {
  health: [],
  'schema.sync': SYNC,
  'schema.extend': [...SYNC, 'unknown_table', 'unknown_column'],
  'schema.describe': [],
  insert: [...WITH_TABLE, ...WITH_VALUES, 'missing_value', 'too_many_rows'],
  find: [...WITH_TABLE, ...WITH_FILTER, 'invalid_sort'],
  update: [...WITH_TABLE, ...WITH_FILTER, ...WITH_VALUES, 'filter_required'],
  upsert: [...WITH_TABLE, ...WITH_VALUES, 'missing_value'],
  delete: [...WITH_TABLE, ...WITH_FILTER, 'filter_required'],
  batch: [
    ...WITH_TABLE,
    ...WITH_FILTER,
    ...WITH_VALUES,
    'missing_value',
    'filter_required',
    'too_many_rows',
    'expectation_failed',
    'unsupported_operation',
  ],
  count: [...WITH_TABLE, ...WITH_FILTER],
  aggregate: [...WITH_TABLE, ...WITH_FILTER, 'invalid_sort', 'invalid_value'],
  flush: ['namespace_unknown'],
};

/** The codes that an operation may answer, in the order of the error table. */
export function codesOf(operation: OperationName): ApiErrorCode[] {
  const { namespace, isWrite } = OPERATIONS[operation];
  const own: readonly ApiErrorCode[] = [
    ...EVERYWHERE,
    ...(namespace ? WITH_NAMESPACE : []),
    ...(isWrite ? WRITES : []),
    ...OWN[operation],
  ];
  return (Object.keys(API_ERRORS) as ApiErrorCode[]).filter((code) => own.includes(code));
}

export function failuresOf(operation: OperationName): Record<string, Node> {
  const byStatus = new Map<number, string[]>();
  for (const code of codesOf(operation)) {
    const { status, also = [], meaning }: ErrorRow = API_ERRORS[code];
    for (const each of [status, ...also])
      byStatus.set(each, [...(byStatus.get(each) ?? []), `- \`${code}\`: ${meaning}`]);
  }
  const statuses = [...byStatus].toSorted(([a], [b]) => a - b);
  return Object.fromEntries(statuses.map(([status, lines]) => [String(status), failure(status, lines)]));
}

function failure(status: number, lines: readonly string[]): Node {
  const headers = { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds' } };
  return {
    description: lines.join('\n'),
    ...(status === 429 ? { headers } : {}),
    content: { 'application/json': { schema: componentRef('ErrorEnvelope') } },
  };
}

/** The whole table, for programs that read this document. */
export function errorTable(): Node {
  return Object.fromEntries(
    Object.entries(API_ERRORS).map(([code, row]: [string, ErrorRow]) => [
      code,
      { status: row.status, ...(row.also === undefined ? {} : { also: row.also }), meaning: row.meaning },
    ]),
  );
}
