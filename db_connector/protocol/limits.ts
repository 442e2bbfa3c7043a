/** Fixed limits of the protocol, and the defaults of those that a configuration may move. Sources: the
 * specification's "Limits", contract sections 2 to 8. A "character" is a UTF-16 code unit unless it says otherwise. */

export const ENVELOPE_VERSION = 1;

export const MAX_NAMESPACE_LENGTH = 24;
export const MAX_TABLE_LENGTH = 36;
export const MAX_COLUMN_LENGTH = 48;
/** Name of a part (`schema.extend`). */
export const MAX_PART_LENGTH = 48;

/** Most characters of an envelope beside its payload. */
export const MAX_ENVELOPE_CHARS = 65_536;
export const MAX_KID_LENGTH = 64;
export const MAX_NONCE_LENGTH = 64;
export const MIN_SECRET_BYTES = 32;
/** Base64url of 32 bytes, without padding. */
export const SIGNATURE_LENGTH = 43;

export const DEFAULT_MAX_SKEW_SECONDS = 60;
export const DEFAULT_MAX_STREAMS = 64;
export const DEFAULT_REQUEST_TIMEOUT_MS = 4500;
export const DEFAULT_STATEMENT_TIMEOUT_MS = 4000;
export const DEFAULT_POOL_SIZE = 4;
/** `schema.sync`, `schema.extend` and `flush`, on both sides (contract section 2). */
export const LONG_OPERATION_TIMEOUT_MS = 120_000;

export const DEFAULT_MAX_ROWS = 1000;
export const DEFAULT_MAX_INSERT_ROWS = 1000;
export const DEFAULT_MAX_BODY_BYTES = 8_388_608;
export const DEFAULT_MAX_PAYLOAD_CHARS = 1_000_000;
export const DEFAULT_MAX_ANSWER_BYTES = 8_388_608;
export const DEFAULT_PER_KEY_PER_SECOND = 5000;
export const DEFAULT_PER_ADDRESS_PER_SECOND = 10_000;
export const DEFAULT_AUTH_FAILURES_PER_MINUTE = 20;
export const DEFAULT_LOCKOUT_SECONDS = 60;

/** In one batch (contract section 11). */
export const MAX_BATCH_OPERATIONS = 1000;

export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
export const IDEMPOTENCY_MEMORY_MS = 600_000;
/** How long an operation waits for a running sync of its namespace (contract section 5). */
export const MAX_SYNC_WAIT_MS = 3000;
/** How long `schema.extend` waits for a running sync, and for what it extends (contract section 11). */
export const MAX_EXTEND_WAIT_MS = 30_000;

/** Limits of an aggregate (contract section 11). */
export const MAX_GROUP_COLUMNS = 4;
export const MAX_AGGREGATE_VALUES = 8;

export const MAX_FILTER_DEPTH = 8;
export const MAX_FILTER_CONDITIONS = 128;
export const MAX_FILTER_LIST_VALUES = 1000;
/** Columns of type text and bytes in one sort: MySQL and MariaDB reserve 64 MB for each. */
export const MAX_LONG_SORT_COLUMNS = 4;
/** Text of `startsWith` and `contains`, in code points as lengths of columns are: a longer search cannot be ended in time. */
export const MAX_FILTER_TEXT_LENGTH = 1000;

/** Nesting of a payload; deep enough for a json value of its own greatest depth inside rows. */
export const MAX_JSON_DEPTH = 128;
/** Nesting inside a json column; a scalar has depth 0. */
export const MAX_JSON_COLUMN_DEPTH = 100;

/** In code points. */
export const MAX_STRING_LENGTH = 4000;
export const DEFAULT_STRING_LENGTH = 255;
export const MAX_TEXT_LENGTH = 1_000_000;
export const MAX_BYTES_LENGTH = 1_000_000;
export const MAX_DECIMAL_PRECISION = 34;
export const DEFAULT_DECIMAL_PRECISION = 18;
export const DEFAULT_DECIMAL_SCALE = 4;
export const INT32_MIN = -2_147_483_648;
export const INT32_MAX = 2_147_483_647;
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** Limit of the narrowest engine; every engine refuses the same (contract section 6). */
export const MAX_ONE_OF_VALUES = 1000;
/** In one namespace: SQLite reads all definitions again to rename one table, so thousands of them stop its writer for minutes. */
export const MAX_SCHEMA_TABLES = 1000;
export const MAX_TABLE_COLUMNS = 200;
export const MAX_TABLE_INDEXES = 32;
export const MAX_INDEX_BYTES = 2600;
export const MAX_STRING_BYTES_OF_TABLE = 60_000;
/** MySQL's. */
export const MAX_INDEX_COLUMNS = 16;
/** MongoDB has 64 indexes in a collection; one is its own, one the key's. */
export const MAX_UNIQUE_COLUMNS_AND_INDEXES = 62;

export const CONNECTOR_MAX_WAITING = 512;
/** Characters of results after which one `TakeMany` hands out no more: the copy of all of them is one piece of the game's tick. */
export const MAX_TAKEN_CHARS = 256_000;
export const CONNECTOR_DEFAULT_TIMEOUT_MS = 5000;
export const CONNECTOR_DEFAULT_MAX_CONCURRENT = 16;
export const CONNECTOR_DEFAULT_MAX_ANSWER_BYTES = 16_777_216;
export const CONNECTOR_DEFAULT_SLOW_CALL_MS = 200;
export const CONNECTOR_RETRY_DELAYS_MS = [300, 600] as const;
export const CONNECTOR_MAX_RETRY_AFTER_MS = 10_000;
export const CIRCUIT_FAILURES = 5;
export const CIRCUIT_PAUSE_MS = 15_000;
