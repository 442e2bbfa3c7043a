import type { PanelStore } from '../../store/panel-store.ts';
import type { TellNews } from '../news.ts';

export interface ReleaseNewsParts {
  readonly store: PanelStore;
  readonly tell: TellNews;
}

/** Tells of each newer release once, over restarts too: the last told version is in `panel.sqlite`. */
export class ReleaseNews {
  readonly #store: PanelStore;
  readonly #tell: TellNews;

  constructor({ store, tell }: ReleaseNewsParts) {
    this.#store = store;
    this.#tell = tell;
  }

  /** @param version the newest release that can be installed; null if none is newer than the running one */
  follow(version: string | null): void {
    if (version === this.#told()) return;
    if (version === null) {
      this.#store.prepare('DELETE FROM notice_release').run();
      return;
    }
    this.#store.prepare('INSERT OR REPLACE INTO notice_release (id, version) VALUES (1, ?)').run(version);
    this.#tell({ event: 'update.available', facts: [version], data: { version } });
  }

  #told(): string | null {
    return (this.#store.prepare('SELECT version FROM notice_release').pluck().get() as string | undefined) ?? null;
  }
}
