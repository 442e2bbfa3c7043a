import type { Upload } from '../shapes/uploads.ts';
import type { PanelStore } from '../store/panel-store.ts';

export interface StoredUpload {
  readonly id: string;
  readonly accountId: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly bytes: number;
  readonly upload: Upload;
}

interface Row {
  readonly id: string;
  readonly account_id: number;
  readonly at: number;
  readonly bytes: number;
  readonly inspected: string;
}

/** Reads and writes rows of `uploads`. */
export class UploadStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  /** The oldest first. */
  all(): StoredUpload[] {
    const rows = this.#store.prepare('SELECT * FROM uploads ORDER BY at, rowid').all() as Row[];
    return rows.map(({ id, account_id: accountId, at, bytes, inspected }) => ({
      ...{ id, accountId, at, bytes, upload: JSON.parse(inspected) as Upload },
    }));
  }

  add({ id, accountId, at, bytes, upload }: StoredUpload): void {
    this.#store
      .prepare('INSERT INTO uploads (id, account_id, at, bytes, inspected) VALUES (?, ?, ?, ?, ?)')
      .run(id, accountId, at, bytes, JSON.stringify(upload));
  }

  remove(id: string): void {
    this.#store.prepare('DELETE FROM uploads WHERE id = ?').run(id);
  }
}
