import type { VersionState } from '../shapes/installs.ts';
import type { PlannedBundle } from './install-plan.ts';
import type { InstallStore, VersionRecord } from './install-store.ts';
import { putBack, putInPlace, takeBack } from './renames.ts';
import type { SwitchedBundle, SwitchRecord } from './switch-record.ts';

/**
 * Renames of switches with their rows: the intent first, then the renames, then the result. Each step can be repeated after a
 * crash at any point. Synchronous, so that no start of the server comes between.
 */
export class SwitchBook {
  readonly #store: InstallStore;
  readonly #now: () => number;

  constructor(store: InstallStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** A switch that waits for the next start of the server: the rows of its versions are written, nothing is renamed. */
  wait(record: SwitchRecord, planned: readonly PlannedBundle[]): void {
    this.#store.atomically(() => {
      this.#store.saveSwitch({ ...record, phase: 'pending' });
      for (const bundle of planned) {
        this.#store.addVersion(bundle.name, { ...bundle.record, state: 'pending', isCurrent: false }, bundle.files);
      }
    });
  }

  /**
   * Puts a switch in place. If a rename fails, everything is back and the row is gone. If the way back fails too (a disk that is
   * full to the last entry of a folder), the row stays `renaming`, and `undo` tries again.
   *
   * @throws the error of the rename
   */
  put(record: SwitchRecord, planned: readonly PlannedBundle[]): void {
    this.#store.atomically(() => {
      this.#store.saveSwitch({ ...record, phase: 'renaming' });
      for (const bundle of planned) {
        const isRestored = this.#store.versions(bundle.name).some(({ number }) => number === bundle.number);
        if (!isRestored)
          this.#store.addVersion(bundle.name, { ...bundle.record, state: 'pending', isCurrent: false }, bundle.files);
      }
    });
    this.finishPut(record);
  }

  /** The renames of a switch whose intent is written. @throws the error of the rename */
  finishPut(record: SwitchRecord): void {
    try {
      putInPlace(record);
    } catch (error) {
      this.#tryUndo(record);
      throw error;
    }
    this.#store.atomically(() => {
      for (const bundle of record.bundles) this.#noteInPlace(bundle);
      this.#store.saveSwitch({ ...record, phase: 'unproven' });
    });
  }

  /** Renames of a failed switch backwards, and its row is gone. Can be repeated. @throws the error of the rename */
  undo(record: SwitchRecord): void {
    putBack(record);
    this.#store.atomically(() => this.drop(record));
  }

  /** Undoes switches whose way back had failed. @returns them @throws the error of the rename */
  undoFailed(): SwitchRecord[] {
    const failed = this.#store.switches().filter(({ phase }) => phase === 'renaming');
    for (const record of failed) this.undo(record);
    return failed;
  }

  /** Forgets a switch that is not in place. Its staged folders stay where they are. */
  drop(record: SwitchRecord): void {
    for (const { name, number } of record.bundles) {
      const known = this.#store.versions(name).find((version) => version.number === number);
      if (known?.state === 'pending') this.#store.removeVersion(name, number);
    }
    this.#store.removeSwitch(record.jobId);
  }

  /** Written before a server that hangs is killed, so that the next start finds it. */
  intendToTakeBack(record: SwitchRecord): void {
    this.#store.saveSwitch({ ...record, phase: 'taking-back' });
  }

  /** The renames backwards. A bundle without an older version stays in place, as `failed`. */
  takeBack(record: SwitchRecord): void {
    this.intendToTakeBack(record);
    takeBack(record);
    this.#store.atomically(() => {
      for (const bundle of record.bundles) this.#noteTakenBack(bundle);
      this.#store.removeSwitch(record.jobId);
    });
  }

  /** The switch is proven, but for the bundles named in `open`, whose proof is the next start of the server. */
  keep(record: SwitchRecord, open: readonly string[]): void {
    this.#store.atomically(() => {
      const isOpen = ({ name }: SwitchedBundle) => open.includes(name);
      for (const { name, number } of record.bundles.filter((bundle) => !isOpen(bundle))) {
        this.#store.setState(name, number, 'kept');
      }
      const rest = record.bundles.filter(isOpen);
      if (rest.length === 0) this.#store.removeSwitch(record.jobId);
      else this.#store.saveSwitch({ ...record, bundles: rest });
      this.#supersede(record);
    });
  }

  /** An older switch of a bundle that is kept now can no longer be taken back. */
  #supersede(record: SwitchRecord): void {
    const names = new Set(record.bundles.map(({ name }) => name));
    for (const older of this.#store.switches()) {
      if (older.jobId === record.jobId) return;
      const rest = older.bundles.filter(({ name }) => !names.has(name));
      if (rest.length === 0) this.#store.removeSwitch(older.jobId);
      else if (rest.length < older.bundles.length) this.#store.saveSwitch({ ...older, bundles: rest });
    }
  }

  #tryUndo(record: SwitchRecord): void {
    try {
      this.undo(record);
    } catch {
      // The row stays, with the phase `renaming`.
    }
  }

  #noteInPlace({ name, number, oldNumber, old, from }: SwitchedBundle): void {
    const at = this.#now();
    const replaced = { isCurrent: false, replacedAt: at, folder: old };
    const isKnown = this.#store.versions(name).some((version) => version.number === oldNumber);
    if (oldNumber !== null && isKnown) this.#store.changeVersion(name, oldNumber, replaced);
    else if (oldNumber !== null) this.#store.addVersion(name, byHand(oldNumber, from ?? '', at, old), null);
    const current: Partial<VersionRecord> = { state: 'unproven', isCurrent: true, replacedAt: null, folder: null };
    this.#store.changeVersion(name, number, current);
  }

  #noteTakenBack({ name, number, oldNumber, old, rejected }: SwitchedBundle): void {
    const state: VersionState = old === null ? 'failed' : 'rolledBack';
    const place = old === null ? {} : { isCurrent: false, replacedAt: this.#now(), folder: rejected };
    this.#store.changeVersion(name, number, { state, ...place });
    const back = { isCurrent: true, replacedAt: null, folder: null };
    if (oldNumber !== null) this.#store.changeVersion(name, oldNumber, back);
  }
}

/** Files that were there before the panel put a version in place. */
function byHand(number: number, version: string, at: number, folder: string | null): VersionRecord {
  return {
    ...{ number, version, origin: 'hand', by: '', at, state: 'kept', keep: [] },
    ...{ isCurrent: false, replacedAt: at, folder },
  };
}
