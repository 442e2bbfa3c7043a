/**
 * Phase of a switch: `pending` (whole on the disk, put in place at the next start of the server), `renaming`, `unproven` (in
 * place, its gate is open), `taking-back`. A decided switch has no row.
 */
export type SwitchPhase = 'pending' | 'renaming' | 'unproven' | 'taking-back';

/** Bundle of a switch. Paths are absolute. */
export interface SwitchedBundle {
  readonly name: string;
  /** Folder that the server reads. */
  readonly target: string;
  /** Complete new folder before the renames. */
  readonly staged: string;
  /** Place of the older version after the renames; null if there was none. */
  readonly old: string | null;
  /** Place of the new version after it was taken back. */
  readonly rejected: string;
  readonly number: number;
  readonly oldNumber: number | null;
  readonly from: string | null;
  readonly to: string;
  /** Starts with the server by its manifest or its configuration. */
  readonly autostart: boolean;
  /** It was up before; null: there was no such bundle. */
  readonly hasRun: boolean | null;
}

export interface SwitchRecord {
  readonly jobId: string;
  readonly phase: SwitchPhase;
  readonly bundles: readonly SwitchedBundle[];
  /** Real path of the folder that holds the bundles, as it was judged. */
  readonly root: string;
  readonly by: string;
}

/** `shop 1.3.0, bank 2.0.0` */
export function namesOf(...records: readonly Pick<SwitchRecord, 'bundles'>[]): string {
  return records.flatMap(({ bundles }) => bundles.map(({ name, to }) => `${name} ${to}`.trimEnd())).join(', ');
}
