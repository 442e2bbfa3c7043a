import type { BundleState } from './host.ts';
import type { Manifest } from './manifest.ts';

/** From one start to the stop after it. */
export interface Run {
  /** The bundle may no longer register anything: it stops, or its start failed. */
  isOver: boolean;
  /** Its stop function has ended too; nothing of the host works any more. */
  isRetired: boolean;
  /** Result of the start. */
  stop: (() => unknown) | undefined;
}

/** A folder below `bundles/`, and how it is doing. */
export interface Bundle {
  readonly name: string;
  readonly folder: string;
  /** null if it could not be read; `reason` says why. */
  manifest: Manifest | null;
  state: BundleState;
  /** Why it failed; else empty. */
  reason: string;
  run: Run | null;
  /** How often it has been started. */
  starts: number;
  /** Resolve when the start, or the stop, that is under way has ended. */
  starting: Promise<boolean> | null;
  stopping: Promise<void> | null;
}
