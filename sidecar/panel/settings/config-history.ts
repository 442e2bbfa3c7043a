import type { ConfigValues } from '../shapes/settings.ts';
import type { PanelStore } from '../store/panel-store.ts';

/** What the last save of the server's configuration replaced. */
export interface Undo {
  /** ISO 8601 UTC with milliseconds. */
  readonly savedAt: string;
  readonly username: string;
  /** Names of what it changed. */
  readonly fields: readonly string[];
  /** Values from before it. */
  readonly config: Partial<ConfigValues>;
  /** Whole text from before it; null where the file stayed. */
  readonly fileBefore: string | null;
  /** Of the file that it left: another one means that somebody else has changed it since. */
  readonly hashAfter: string;
}

/** One row: the panel's store is for its owner alone, as a `server.cfg` holds passwords. */
export class ConfigHistory {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  latest(): Undo | null {
    const row = this.#store.prepare('SELECT undo FROM config_undo').get() as { undo: string } | undefined;
    return row === undefined ? null : (JSON.parse(row.undo) as Undo);
  }

  keep(undo: Undo): void {
    this.#store.prepare('INSERT OR REPLACE INTO config_undo (id, undo) VALUES (1, ?)').run(JSON.stringify(undo));
  }
}
