/** A row of the error table: the status a code comes with, and what it means in words for a reader of the API. */
export interface ErrorRow {
  readonly status: number;
  /** Statuses that the same code may also carry (contract section 3). */
  readonly also?: readonly number[];
  readonly meaning: string;
}

/** Every code of the API, with its HTTP status. The specification's error table; both sides read this one. */
export const API_ERRORS = {
  invalid_request: { status: 400, also: [404, 405], meaning: 'envelope, payload, path or method does not fit' },
  invalid_identifier: { status: 400, meaning: 'namespace, table or column name not allowed' },
  invalid_schema: { status: 400, meaning: 'declared schema invalid; the message names the column' },
  invalid_filter: { status: 400, meaning: 'malformed filter, or a column or value that does not suit it' },
  invalid_sort: { status: 400, meaning: 'malformed sort, or a column that cannot be sorted' },
  unknown_column: { status: 400, meaning: 'no such column in the table' },
  missing_value: { status: 400, meaning: 'a required column is left out' },
  invalid_value: { status: 400, meaning: 'a value does not fit the type of its column' },
  value_too_long: { status: 400, meaning: 'a value is longer than its column holds' },
  filter_required: { status: 400, meaning: 'an update or delete without filter needs `all`' },
  unauthorized: { status: 401, meaning: 'bad key, signature or timestamp, or a replayed nonce' },
  forbidden: { status: 403, meaning: 'the key may not use this operation, namespace or unfiltered writes' },
  https_required: { status: 403, meaning: 'this address must use HTTPS' },
  unknown_table: { status: 404, meaning: 'the namespace declares no such table' },
  namespace_unknown: { status: 404, meaning: 'nothing is declared for the namespace yet' },
  constraint_violation: { status: 409, meaning: 'duplicate or missing value, or a generator at its end' },
  destructive_denied: { status: 409, meaning: 'the sync would remove something, and the server denies that' },
  data_does_not_fit: { status: 409, meaning: 'rows that exist do not fit the declared schema' },
  unsupported_change: { status: 409, meaning: 'the stored schema cannot be changed into the declared one' },
  sync_in_progress: { status: 409, meaning: 'the schema of the namespace is being changed' },
  expectation_failed: {
    status: 409,
    meaning: 'an operation of a batch did not do what `expect` says; nothing was changed',
  },
  unsupported_operation: { status: 409, meaning: 'this database cannot do that; see `capabilities` of health' },
  conflict_retry: { status: 409, meaning: 'other writes were in the way again and again; repeat the call' },
  payload_too_large: { status: 413, meaning: 'body or payload over the limit' },
  too_many_rows: { status: 413, meaning: 'more rows than one insert may carry' },
  idempotency_conflict: { status: 422, meaning: 'the idempotency key was used with another payload' },
  rate_limited: { status: 429, meaning: 'limit of the key or address, or a lock-out; see Retry-After' },
  write_buffer_full: { status: 503, meaning: 'the queue is full; the write was not accepted' },
  write_buffer_unavailable: { status: 503, meaning: 'the journal cannot be written; the write was not accepted' },
  write_buffer_halted: { status: 503, meaning: 'older queued writes could not be applied first' },
  database_error: { status: 500, meaning: 'the database failed or cannot be reached' },
  internal_error: { status: 500, also: [503], meaning: 'the service failed; details are in its log' },
  database_timeout: { status: 504, meaning: 'the statement took too long and was ended' },
  timeout: { status: 504, meaning: 'the request took too long' },
} as const satisfies Record<string, ErrorRow>;

export type ApiErrorCode = keyof typeof API_ERRORS;

/** Codes that the connector itself gives, before or instead of an answer of the API. Their Status is 0. */
export const CONNECTOR_ERRORS = {
  not_configured: 'configuration or secret missing or invalid',
  unknown_operation: 'operation name not in the list',
  invalid_request: 'payload is not a JSON object',
  invalid_identifier: 'namespace missing or invalid',
  namespace_not_allowed: 'namespace not in the allowed list',
  payload_too_large: 'more than 1,000,000 characters',
  busy: 'too many calls waiting',
  unavailable: 'circuit breaker open',
  network: 'API unreachable: timeout, refused, or host not allowed',
  unauthorized: 'API did not accept the key: wrong secret, expired timestamp, replay, address not allowed',
  rate_limited: 'API rate limit or lock-out',
  bad_signature: 'answer not signed with the secret',
  bad_response: 'answer not a valid envelope, or its signed status differed',
  internal: 'unexpected connector failure; details are in the log',
  bundle_unavailable: 'helper only: connector not running',
} as const satisfies Record<string, string>;

export type ConnectorErrorCode = keyof typeof CONNECTOR_ERRORS;

export function isApiErrorCode(code: string): code is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, code);
}

export interface ApiErrorOptions {
  /** Only where the code may come with another status than its own (`also` in the table). */
  readonly status?: number;
  readonly cause?: unknown;
  /** Position of the failed operation in its batch. */
  readonly index?: number | undefined;
}

/** Paths in messages hold names that a caller chose, of any length. */
const MAX_MESSAGE_LENGTH = 1000;

/** A failure with a code of the table. Its message reaches the caller, so it never holds what a caller may not see. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly status: number;
  /** Which operation of a batch failed, from 0; absent for whatever is not about one of them. */
  readonly index: number | undefined;

  constructor(code: ApiErrorCode, message: string, options: ApiErrorOptions = {}) {
    const isLong = message.length > MAX_MESSAGE_LENGTH;
    super(
      isLong ? `${message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…` : message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.status = options.status ?? API_ERRORS[code].status;
    this.index = options.index;
  }

  /** The same of an operation of a batch. */
  inOperation(index: number): ApiError {
    const { code, status, message, cause } = this;
    return new ApiError(code, `operations[${index}]: ${message}`, { status, cause, index });
  }
}
