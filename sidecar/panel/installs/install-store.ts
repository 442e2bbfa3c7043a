import type { BundleVersion, VersionState } from '../shapes/installs.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { SwitchPhase, SwitchRecord } from './switch-record.ts';

/** A version as it is stored. */
export interface VersionRecord extends Omit<BundleVersion, 'at' | 'isKept'> {
  /** Epoch milliseconds. */
  readonly at: number;
  /** When it was replaced or taken back; null while it is current. */
  readonly replacedAt: number | null;
  /** Folder of its files while it is not current; null if they are not kept. */
  readonly folder: string | null;
  /** Paths that each install carries over from the version before it. */
  readonly keep: readonly string[];
}

interface VersionRow {
  readonly bundle: string;
  readonly record: string;
  readonly files: Uint8Array | null;
}

/** Reads and writes rows of `install_switches` and `bundle_versions`. */
export class InstallStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  get isOpen(): boolean {
    return this.#store.open;
  }

  atomically<Result>(work: () => Result): Result {
    return this.#store.transaction(work).immediate();
  }

  /** Switches that are not decided yet, in their order. */
  switches(): SwitchRecord[] {
    const rows = this.#store.prepare('SELECT job_id, phase, record FROM install_switches ORDER BY number').all();
    return (rows as { job_id: string; phase: SwitchPhase; record: string }[]).map(
      ({ job_id: jobId, phase, record }) => ({
        ...(JSON.parse(record) as Omit<SwitchRecord, 'jobId' | 'phase'>),
        ...{ jobId, phase },
      }),
    );
  }

  findSwitch(jobId: string): SwitchRecord | null {
    return this.switches().find((record) => record.jobId === jobId) ?? null;
  }

  saveSwitch({ jobId, phase, ...record }: SwitchRecord): void {
    this.#store
      .prepare(
        `INSERT INTO install_switches (job_id, phase, record) VALUES (@jobId, @phase, @record)
          ON CONFLICT (job_id) DO UPDATE SET phase = @phase, record = @record`,
      )
      .run({ jobId, phase, record: JSON.stringify(record) });
  }

  removeSwitch(jobId: string): void {
    this.#store.prepare('DELETE FROM install_switches WHERE job_id = ?').run(jobId);
  }

  /** The newest first. */
  versions(bundle: string): VersionRecord[] {
    const rows = this.#store
      .prepare('SELECT record FROM bundle_versions WHERE bundle = ? ORDER BY number DESC')
      .all(bundle) as VersionRow[];
    return rows.map(({ record }) => JSON.parse(record) as VersionRecord);
  }

  current(bundle: string): VersionRecord | null {
    return this.versions(bundle).find(({ isCurrent }) => isCurrent) ?? null;
  }

  /** Hashes of a version's files as they were put in place; null for files that the panel did not put there. */
  files(bundle: string, number: number): Uint8Array | null {
    const row = this.#store
      .prepare('SELECT files FROM bundle_versions WHERE bundle = ? AND number = ?')
      .get(bundle, number);
    return (row as VersionRow | undefined)?.files ?? null;
  }

  addVersion(bundle: string, record: VersionRecord, files: Uint8Array | null): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO bundle_versions (bundle, number, record, files) VALUES (?, ?, ?, ?)')
      .run(bundle, record.number, JSON.stringify(record), files);
  }

  changeVersion(bundle: string, number: number, change: Partial<VersionRecord>): void {
    const known = this.versions(bundle).find((record) => record.number === number);
    if (known === undefined) return;
    this.#store
      .prepare('UPDATE bundle_versions SET record = ? WHERE bundle = ? AND number = ?')
      .run(JSON.stringify({ ...known, ...change }), bundle, number);
  }

  /** A version of this state for each of these bundles. */
  setState(bundle: string, number: number, state: VersionState): void {
    this.changeVersion(bundle, number, { state });
  }

  removeVersion(bundle: string, number: number): void {
    this.#store.prepare('DELETE FROM bundle_versions WHERE bundle = ? AND number = ?').run(bundle, number);
  }

  nextNumber(bundle: string): number {
    const row = this.#store.prepare('SELECT max(number) AS most FROM bundle_versions WHERE bundle = ?').get(bundle);
    return ((row as { most: number | null }).most ?? 0) + 1;
  }

  /** Bundles that have versions. */
  bundles(): string[] {
    const rows = this.#store.prepare('SELECT DISTINCT bundle FROM bundle_versions').all() as VersionRow[];
    return rows.map(({ bundle }) => bundle);
  }
}
