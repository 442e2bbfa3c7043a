import type { StoredSchema } from '#engine/schema-calls.ts';

/** The idempotency key that a write came with. */
export interface EntryKey {
  readonly key: string;
  readonly fingerprint: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A key in full: `IdempotencySlot` of the engine is one. */
export interface KeySlot extends EntryKey {
  readonly kid: string;
  readonly namespace: string;
}

/** One acknowledged write: a journal knows nothing of what is in it. */
export interface NewEntry {
  readonly namespace: string;
  /** Fencing token of the queue under which it was accepted. */
  readonly token: number;
  readonly kid: string;
  readonly op: string;
  /** JSON text. */
  readonly payload: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** As the acknowledgement says it. */
  readonly pending: number;
  readonly key: EntryKey | null;
  /** Id of the dead letter of which this is another attempt. */
  readonly retryOf: string | null;
}

/** Read back from the journal. */
export interface JournalEntry extends NewEntry {
  readonly position: number;
  /** Of the acknowledgement. */
  readonly id: string;
}

/** What stays in memory of an entry that is not settled yet. */
export interface PendingEntry {
  /** Grows over the whole journal, from 1, maybe with gaps. */
  readonly position: number;
  readonly namespace: string;
  readonly token: number;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Of the payload. */
  readonly bytes: number;
  readonly retryOf: string | null;
  /** Where the entry lies: number of the segment, offset in it, and how many bytes it has there. */
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** What the journal remembers of a namespace for a start while the database is away. */
export interface NamespaceState {
  readonly namespace: string;
  readonly token: number;
  /** This journal owned the queue last. */
  readonly isOwner: boolean;
  /** Epoch milliseconds at which this journal first had the queue under the token. */
  readonly since: number;
  readonly stored: StoredSchema | null;
}

/** How far a namespace is settled, and the token of that entry. */
export interface SettledMark {
  readonly token: number;
  readonly position: number;
}
