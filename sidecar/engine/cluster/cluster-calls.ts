import type { CallBounds } from '../rows.ts';

/** A sidecar of the database (`_sidecars`), as it describes itself. */
export interface SidecarRow {
  /** Random id of its data folder. */
  readonly instance: string;
  /** Host name. */
  readonly box: string;
  /** Where its API listens. */
  readonly url: string;
  readonly version: string;
  /** Epoch milliseconds by its own clock, and another one each time. Tells what has expired for it, never whether it lives. */
  readonly seenAt: number;
}

/** A lease (`_locks`): the right to do what `name` names, as long as its holder goes on renewing it. */
export interface LeaseRow {
  /** Namespace whose schema changes, or a name with a colon. */
  readonly name: string;
  /** Instance of the holder, a full stop, and a token that no other lease ever had. */
  readonly owner: string;
  /** Epoch milliseconds by the holder's clock: to be shown, and another one each time. Never compared with another clock. */
  readonly renewedAt: number;
}

/** A key that no sidecar of the database accepts any more (`_revoked`). */
export interface RevokedKey {
  readonly kid: string;
  /** Epoch milliseconds by the clock of the box that revoked it: to be shown. */
  readonly revokedAt: number;
}

/** Nonce of a request that other sidecars would accept too, recorded so that they do not do its write again. */
export interface SharedNonce {
  readonly nonce: string;
  /** SHA-256 of the request's signature, hex: differs for every other request. */
  readonly fingerprint: string;
  /** Epoch milliseconds at which no sidecar accepts the request any more. */
  readonly expiresAt: number;
}

/** Key of a nonce among the idempotency keys of its kid and namespace. */
export function keyOfNonce({ nonce }: Pick<SharedNonce, 'nonce'>): string {
  return `nonce:${nonce}`;
}

/** A nonce of a request that has no transaction of its own. */
export interface NonceClaim extends SharedNonce {
  readonly kid: string;
  readonly namespace: string;
}

/**
 * Rows by which the sidecars of a database know of each other. A row is replaced only if it is still the one that the
 * caller has seen, so that no two sidecars replace the same row.
 */
export interface ClusterCalls {
  listSidecars(bounds: CallBounds): Promise<SidecarRow[]>;
  /** Replaces the row whose `seenAt` is `from`; null: there is none. False if the row is another one by now. */
  putSidecar(row: SidecarRow, from: number | null, bounds: CallBounds): Promise<boolean>;
  /** Deletes the row if its `seenAt` is still the given one. */
  dropSidecar(row: Pick<SidecarRow, 'instance' | 'seenAt'>, bounds: CallBounds): Promise<void>;

  listLeases(bounds: CallBounds): Promise<LeaseRow[]>;
  readLease(name: string, bounds: CallBounds): Promise<LeaseRow | null>;
  /** Replaces the row `from`; null: there is none. False if the row is another one by now. */
  takeLease(row: LeaseRow, from: LeaseRow | null, bounds: CallBounds): Promise<boolean>;
  /** False if the lease has another owner. */
  renewLease(row: LeaseRow, bounds: CallBounds): Promise<boolean>;
  dropLease(row: Pick<LeaseRow, 'name' | 'owner'>, bounds: CallBounds): Promise<void>;

  listRevoked(bounds: CallBounds): Promise<RevokedKey[]>;
  /** Keeps the row of a key that is revoked already. */
  revokeKey(key: RevokedKey, bounds: CallBounds): Promise<void>;

  /** False if the nonce is recorded already. */
  claimNonce(claim: NonceClaim, bounds: CallBounds): Promise<boolean>;
}
