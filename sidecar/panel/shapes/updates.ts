import type { JobView } from './jobs.ts';
import type { UpdateChannel } from './settings.ts';

/** A release of the panel that can be put in place. */
export interface ReleaseOffer {
  readonly version: string;
  readonly channel: UpdateChannel;
  /** `2026-11-24` */
  readonly date: string;
  readonly isSigned: boolean;
  /** Formats that it raises: what it writes the running release cannot read. */
  readonly raises: readonly ('panel' | 'database' | 'journal')[];
  /** Why it cannot be put in place, in English; null if it can. */
  readonly fault: string | null;
}

/** A file of the inbox that is no release, or is not trusted. */
export interface RefusedRelease {
  readonly file: string;
  /** Localization key. */
  readonly error: string;
  readonly detail: string;
}

/** A change of the release that was committed, or taken back. */
export interface UpdateRecord {
  readonly id: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly outcome: 'committed' | 'takenBack';
  /** English; empty after a commit. */
  readonly reason: string;
  /** Last lines of the release that was taken back. */
  readonly lines: readonly string[];
}

/** `GET /api/updates` */
export interface PanelUpdates {
  readonly version: string;
  readonly channel: UpdateChannel;
  readonly checkedAt: string | null;
  /** Newest release of the inbox that is newer than the running one. */
  readonly newest: ReleaseOffer | null;
  /** Newest release that is unpacked and verified, and newer than the running one. */
  readonly staged: ReleaseOffer | null;
  /** Version to which `rollback` goes; null if there is none. */
  readonly previous: string | null;
  /** Whether a keeper runs this sidecar. */
  readonly keeper: boolean;
  /** A change is being made: each POST of an account is refused. */
  readonly isApplying: boolean;
  /** Localization key of what forbids every `apply`, or null. */
  readonly refusal: 'update.keeper' | 'update.embedded' | null;
  readonly refused: readonly RefusedRelease[];
  /** The newest first. */
  readonly history: readonly UpdateRecord[];
}

/** `connector` of `GET /api/updates/connector`: the server's `db_connector` is not the one of this release. */
export interface ConnectorVersions {
  /** Empty if its manifest has none. */
  readonly installed: string;
  readonly shipped: string;
}

export interface PanelUpdatesAnswer {
  /** Last job of updates; null before the first. */
  readonly status: JobView | null;
  readonly updates: PanelUpdates;
}
