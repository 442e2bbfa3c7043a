/**
 * The database pages (`/api/database/…`). Values of rows travel as JSON text in strings (`"9007199254740993"`,
 * `"\"abc\""`, `"null"`), so that no reader on the way touches a digit. All of it is what players and scripts wrote: text,
 * never markup.
 */
export type JsonText = string;

/** `GET /api/database/namespaces` */
export interface NamespacesAnswer {
  readonly namespaces: readonly NamespaceInfo[];
  /** `sqlite`, `postgres`, `mysql` or `mongodb`. */
  readonly provider: string;
}

export interface NamespaceInfo {
  readonly name: string;
  /** Time of the last schema change; ISO 8601 UTC. */
  readonly updatedAt: string;
  /** Its writes go through the write queue. */
  readonly isBuffered: boolean;
  readonly tables: readonly TableInfo[];
}

export interface TableInfo {
  readonly name: string;
  /** Null if the count took too long. */
  readonly rows: number | null;
  /** The database's own estimate; counted where false. */
  readonly isEstimate: boolean;
  /** With indexes; null if the database does not report it, or not in time. */
  readonly bytes: number | null;
  readonly columns: number;
}

/** `POST /api/database/rows` */
export interface RowsRequest {
  readonly namespace: string;
  readonly table: string;
  /** JSON text of a filter of the API; left out or empty for all rows. */
  readonly filter?: JsonText;
  readonly sort?: readonly { readonly field: string; readonly dir: 'asc' | 'desc' }[];
  /** 1 to `MAX_PAGE_ROWS`, default 50. */
  readonly limit?: number;
  readonly offset?: number;
}

export const MAX_PAGE_ROWS = 200;

export interface RowsAnswer {
  readonly columns: readonly ColumnInfo[];
  /** Columns of the primary key. Empty if the table has none: its rows cannot be changed here. */
  readonly key: readonly string[];
  /** In the order of `columns`. Fewer than `limit` also where rows are long: the next page begins at offset + rows.length. */
  readonly rows: readonly (readonly JsonText[])[];
  readonly hasMore: boolean;
  /** The write queue stands still: what waits in it is not in these rows. */
  readonly isBehind: boolean;
}

/** `POST /api/database/count`: namespace, table and filter of a `RowsRequest`. */
export interface CountAnswer {
  /** Null if not counted in time and there is no estimate. */
  readonly rows: number | null;
  /** The database's own estimate; counted if false. */
  readonly isEstimate: boolean;
}

export interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly length?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly oneOf?: readonly string[];
  readonly isKey: boolean;
  readonly isUnique: boolean;
  /** Not part of the key and not derived. */
  readonly isEditable: boolean;
  /** Operators of the filter language that it takes. */
  readonly filterOps: readonly string[];
  readonly isSortable: boolean;
}

/** `POST /api/database/row` */
export interface RowRequest {
  readonly namespace: string;
  readonly table: string;
  /** All columns of the primary key. */
  readonly key: Readonly<Record<string, JsonText>>;
  /** New values; at least one. */
  readonly set: Readonly<Record<string, JsonText>>;
  /** The row as the page showed it; 409 `database.conflict` if the stored row differs. */
  readonly seen: Readonly<Record<string, JsonText>>;
  /** Only says what would be. */
  readonly preview?: boolean;
}

export interface RowAnswer {
  /** The whole row as it was, and as it is now (or would be). */
  readonly before: Readonly<Record<string, JsonText>>;
  readonly after: Readonly<Record<string, JsonText>>;
  /** Names of the columns that differ, what follows from others included. */
  readonly changed: readonly string[];
}

/** `GET /api/database/queue` */
export interface QueueAnswer {
  /** Null if write-behind is off. */
  readonly queue: QueueInfo | null;
  /** Oldest first, at most `MAX_LETTERS`; null while the database does not answer. */
  readonly letters: readonly LetterInfo[] | null;
  readonly hasMoreLetters: boolean;
}

export const MAX_LETTERS = 100;

export interface QueueInfo {
  /** False while the journal cannot be written: nothing is accepted then. */
  readonly isAvailable: boolean;
  /** Acknowledged writes that are not in the database yet. */
  readonly pending: number;
  readonly pendingBytes: number;
  readonly maxPending: number;
  readonly oldestAgeSeconds: number;
  /** Since the start. */
  readonly applied: number;
  readonly deadLettered: number;
  readonly journalBytes: number;
  readonly namespaces: readonly NamespaceQueueInfo[];
}

export interface NamespaceQueueInfo {
  readonly namespace: string;
  readonly pending: number;
  /** ISO 8601 UTC; null if no write waits. */
  readonly oldest: string | null;
  /** `halted`: the database does not take its writes. `lost`: another sidecar has taken the queue over. `leftover`: no longer buffered, and still emptied. */
  readonly state: 'well' | 'halted' | 'lost' | 'leftover';
}

export interface LetterInfo {
  readonly id: string;
  readonly namespace: string;
  readonly op: string;
  /** Null if the call writes to several tables. */
  readonly table: string | null;
  /** The write as it was sent: JSON text, cut at `MAX_LETTER_CHARS`. */
  readonly payload: string;
  readonly isCut: boolean;
  /** Why it can never succeed. */
  readonly code: string;
  readonly message: string;
  /** When it was acknowledged; ISO 8601 UTC. */
  readonly time: string;
  readonly isRetryWanted: boolean;
}

export const MAX_LETTER_CHARS = 4096;

/** `POST /api/database/dead-letters/retry`, `…/discard`: `{"ids":[…]}`, 1 to `MAX_LETTERS`. */
export interface LettersAnswer {
  /** Asked for again, or discarded. */
  readonly done: readonly string[];
  /** Not there any more. */
  readonly gone: readonly string[];
  /** Retry: what happens to the letters of each namespace. `waits`: no sidecar applies that queue now. */
  readonly prospects: readonly { readonly namespace: string; readonly prospect: 'soon' | 'elsewhere' | 'waits' }[];
}

/** `GET /api/database/quarantine` */
export interface QuarantineAnswer {
  /** Oldest first. */
  readonly objects: readonly QuarantineInfo[];
}

export interface QuarantineInfo {
  readonly id: number;
  readonly namespace: string;
  readonly kind: 'table' | 'column';
  readonly table: string;
  readonly column: string | null;
  readonly rows: number;
  /** ISO 8601 UTC. */
  readonly quarantinedAt: string;
}

/**
 * `POST /api/database/quarantine/restore`, `…/purge`: `{"ids":[…]}`, 1 to 100. 404 where none of them is there; what could
 * not be done says why, the others are done.
 */
export interface QuarantineChangeAnswer {
  /** `note` tells what its owner should know of how it came back. */
  readonly done: readonly { readonly id: number; readonly note: string | null }[];
  readonly failed: readonly { readonly id: number; readonly reason: string }[];
}

/** `GET /api/database/slow` */
export interface SlowAnswer {
  readonly thresholdMs: number;
  /** Since the start: all calls, and those over the threshold. */
  readonly calls: number;
  readonly slow: number;
  /** The newest first, at most 200. */
  readonly latest: readonly SlowCall[];
}

export interface SlowCall {
  /** When it was answered; ISO 8601 UTC. */
  readonly time: string;
  /** `find`, `schema.sync`, … */
  readonly operation: string;
  readonly kid: string;
  /** Null if the operation has none, or several. */
  readonly namespace: string | null;
  readonly table: string | null;
  /** Columns that its filter and sort name: where an index may help. */
  readonly columns: readonly string[];
  readonly ms: number;
  /** Part of the duration that waited for the database. */
  readonly databaseMs: number;
  /** `ok`, or the code of the refusal. */
  readonly code: string;
}

/** `GET /api/database/keys` */
export interface KeysAnswer {
  readonly keys: readonly KeyInfo[];
}

export interface KeyInfo {
  readonly kid: string;
  readonly operations: readonly string[];
  readonly namespaces: readonly string[];
  /** CIDR ranges; empty for every address. */
  readonly addresses: readonly string[];
  readonly allowUnfilteredWrites: boolean;
  /** While it is rotated: until when the secret before is good; ISO 8601 UTC. */
  readonly previousUntil: string | null;
  /** ISO 8601 UTC; null if the key was not used since the panel counts. */
  readonly lastUsed: string | null;
  readonly lastAddress: string | null;
  /** Since the start of the sidecar. */
  readonly calls: number;
}

/** Event `health`: the database below the sidecar and the write queue. Without this event all is well. */
export interface DatabaseHealth {
  /** ISO 8601 UTC; null while the database answers. */
  readonly unreachableSince: string | null;
  /** Queued writes; 0 without a write queue. */
  readonly pendingWrites: number;
  /** `halted`: the database refused the queued writes too often. `unavailable`: the journal takes no writes. */
  readonly queue: 'ok' | 'halted' | 'unavailable';
}

/** `POST /api/database/import`, without `ok`. */
export interface ImportAnswer {
  /** Rows that were written, with those of an earlier run that was cut. */
  readonly rows: number;
  /** Number of refused lines; with one of them nothing is written. */
  readonly refused: number;
  /** The first of them. */
  readonly refusals: readonly { readonly line: number; readonly reason: string }[];
}
