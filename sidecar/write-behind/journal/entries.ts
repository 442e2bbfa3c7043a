import type { StoredSchema } from '#engine/schema-calls.ts';

/** The idempotency key that a write came with. */
export interface EntryKey {
  readonly key: string;
  readonly fingerprint: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A key in full; has the fields of the engine's `IdempotencySlot`. */
export interface KeySlot extends EntryKey {
  readonly kid: string;
  readonly namespace: string;
}

/** An acknowledged write; the journal does not know the meaning of its fields. */
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
  /** The acknowledgement's `pending`. */
  readonly pending: number;
  readonly key: EntryKey | null;
  /** Id of the dead letter that this entry retries. */
  readonly retryOf: string | null;
}

/** JSON text of the acknowledgement of the entry with the id. */
export function acknowledgement(id: string, pending: number): string {
  return `{"queued":true,"id":"${id}","pending":${pending}}`;
}

/** Read back from the journal. */
export interface JournalEntry extends NewEntry {
  readonly position: number;
  /** The acknowledgement's `id`. */
  readonly id: string;
}

/** The part of an entry that stays in memory until it is settled. */
export interface PendingEntry {
  /** Grows over the whole journal, from 1, maybe with gaps. */
  readonly position: number;
  readonly namespace: string;
  readonly token: number;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Length of the payload. */
  readonly bytes: number;
  readonly retryOf: string | null;
  /** Place of the entry: number of the segment, offset in it, and length there. */
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** State of a namespace that the journal keeps for a start while the database is away. */
export interface NamespaceState {
  readonly namespace: string;
  readonly token: number;
  /** This journal owned the queue last. */
  readonly isOwner: boolean;
  /** Epoch milliseconds at which this journal first had the queue under the token. */
  readonly since: number;
  readonly stored: StoredSchema | null;
}

/** The last settled position of a namespace, and the token of that entry. */
export interface SettledMark {
  readonly token: number;
  readonly position: number;
}
