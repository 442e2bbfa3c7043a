import type { PanelStore } from '../store/panel-store.ts';

/** More rows than bundles: tags of bundles in the trash stay for their return. */
const MAX_ROWS = 5000;

/** Tags that accounts gave to bundles, beside those of the manifests. */
export class OwnTags {
  readonly #store: PanelStore;
  readonly #tags: Map<string, readonly string[]>;

  constructor(store: PanelStore) {
    this.#store = store;
    const rows = store.prepare('SELECT name, tags FROM bundle_tags').all() as { name: string; tags: string }[];
    this.#tags = new Map(rows.map(({ name, tags }) => [name, JSON.parse(tags) as string[]]));
  }

  of(name: string): readonly string[] {
    return this.#tags.get(name) ?? [];
  }

  set(name: string, tags: readonly string[]): void {
    if (tags.length === 0) this.#remove(name);
    else {
      const sql = 'INSERT OR REPLACE INTO bundle_tags (name, tags) VALUES (?, ?)';
      this.#store.prepare(sql).run(name, JSON.stringify(tags));
      // Again at the end: the first are those that were changed the longest ago.
      this.#tags.delete(name);
      this.#tags.set(name, tags);
    }
    for (const oldest of [...this.#tags.keys()].slice(0, Math.max(0, this.#tags.size - MAX_ROWS))) this.#remove(oldest);
  }

  #remove(name: string): void {
    this.#store.prepare('DELETE FROM bundle_tags WHERE name = ?').run(name);
    this.#tags.delete(name);
  }
}
