import type { PanelStore } from '../store/panel-store.ts';

/** State of a row: its folder is on its way into the trash, there, on its way back, or being removed for good. */
export type TrashState = 'moving' | 'kept' | 'returning' | 'purging';

/** A deleted bundle, and all that its return needs. */
export interface TrashRow {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly by: string;
  readonly atEpochMs: number;
  readonly bytes: number;
  /** Absolute: folder of all bundles, the way of the bundle below it, and where it lies now. */
  readonly bundles: string;
  readonly way: string;
  readonly folder: string;
  /** The owner's choice on a standalone server. */
  readonly autostart: boolean | null;
  /** A line of `server.cfg` started it. */
  readonly isEnsured: boolean;
  /** Bundles that ran before and stopped with it, itself first. */
  readonly ran: readonly string[];
  /** Ids of its tables and columns in quarantine. */
  readonly quarantined: readonly number[];
}

/** Rows of the trash. A row is written before its folder moves, so that no folder is without one. */
export class TrashStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  save(row: TrashRow, state: TrashState): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO trash (id, at, state, record) VALUES (?, ?, ?, ?)')
      .run(row.id, row.atEpochMs, state, JSON.stringify(row));
  }

  remove(id: string): void {
    this.#store.prepare('DELETE FROM trash WHERE id = ?').run(id);
  }

  find(id: string): { readonly row: TrashRow; readonly state: TrashState } | null {
    const found = this.#store.prepare('SELECT state, record FROM trash WHERE id = ?').get(id) as StoredRow | undefined;
    return found === undefined ? null : { row: JSON.parse(found.record) as TrashRow, state: found.state };
  }

  /** The newest first. */
  list(state: TrashState): TrashRow[] {
    const sql = 'SELECT state, record FROM trash WHERE state = ? ORDER BY at DESC, id';
    const rows = this.#store.prepare(sql).all(state) as StoredRow[];
    return rows.map(({ record }) => JSON.parse(record) as TrashRow);
  }
}

interface StoredRow {
  readonly state: TrashState;
  readonly record: string;
}
