import type { JobView } from './jobs.ts';

export interface BackupView {
  /** Name of the local folder, or of the object off the machine. */
  readonly name: string;
  /** ISO 8601 UTC. */
  readonly time: string;
  readonly bytes: number;
  readonly where: 'local' | 'remote';
  /** null, as `rows`: unknown until it is opened. */
  readonly namespaces: readonly string[] | null;
  readonly rows: number | null;
}

/** Last try to restore the newest backup off the machine. */
export interface DrillView {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly ok: boolean;
  /** `bytes`: without an identity only the bytes were compared. */
  readonly kind: 'opened' | 'bytes';
  readonly seconds: number;
  readonly rows: number | null;
  /** English; null if it succeeded. */
  readonly error: string | null;
  /** None has succeeded for twice `backup.drill.everyDays`. */
  readonly isOverdue: boolean;
}

/** `GET /api/backups`, without `ok`. */
export interface BackupsAnswer {
  /** The newest first. */
  readonly backups: readonly BackupView[];
  readonly drill: DrillView | null;
  /** null: no place off this machine is configured. */
  readonly remote: { readonly reachable: boolean; readonly error: string | null } | null;
  /** Copy of each write (`backup.continuous`): seconds since everything was off the machine; null if it is not configured. */
  readonly continuous: { readonly lagSeconds: number; readonly isLate: boolean } | null;
  /** Last job of backups that the account may read. */
  readonly status: JobView | null;
}

/** Table of `POST /api/backups/preview`: rows in the backup and in the database; null if it is not there. */
export interface BackupTable {
  readonly namespace: string;
  readonly table: string;
  readonly then: number | null;
  readonly now: number | null;
}

/** Outcome of a restore. */
export interface RestoreOutcome {
  /** Local backup that was made before it; null if nothing was replaced. */
  readonly undo: string | null;
  readonly namespace: string | null;
}
