import type { JobView } from './jobs.ts';

/** A folder or archive of the inbox, or a version that is unpacked. */
export interface ServerCandidate {
  readonly target: string;
  /** It can be applied. */
  readonly isStaged: boolean;
}

/** How the last change of the version ended. */
export interface ServerChange {
  readonly target: string;
  readonly outcome: 'kept' | 'takenBack';
  /** English; empty if it was kept. */
  readonly reason: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
}

/** `GET /api/server-updates` */
export interface ServerUpdates {
  /** Kind of the game server, a value of `backend`. */
  readonly kind: string;
  readonly current: string | null;
  /** Starts with the next start of the server. */
  readonly pending: string | null;
  readonly previous: string | null;
  /** The running version is not proven yet. */
  readonly isOnTrial: boolean;
  readonly candidates: readonly ServerCandidate[];
  readonly last: ServerChange | null;
  /** Localization key of what forbids every `apply`, or null. */
  readonly refusal: 'serverUpdates.shipped' | 'serverUpdates.line' | 'server.elsewhere' | null;
}

export interface ServerUpdatesAnswer {
  /** Last job of these updates; null before the first. */
  readonly status: JobView | null;
  readonly updates: ServerUpdates;
}
