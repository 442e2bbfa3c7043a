import type { Review } from '../shapes/merging.ts';
import type { PanelStore } from '../store/panel-store.ts';

/** Reviews of a project beyond this number go, the oldest that have ended first. */
const MAX_REVIEWS = 500;

/** Rows of reviews, as JSON. */
export class ReviewStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  add(review: Omit<Review, 'id'>): Review {
    const sql = 'INSERT INTO reviews (project, is_open, record) VALUES (?, 1, ?)';
    const { lastInsertRowid } = this.#store.prepare(sql).run(review.project, JSON.stringify(review));
    this.#store
      .prepare(
        `DELETE FROM reviews WHERE is_open = 0 AND project = @project AND id NOT IN
          (SELECT id FROM reviews WHERE project = @project ORDER BY id DESC LIMIT @most)`,
      )
      .run({ project: review.project, most: MAX_REVIEWS });
    return { ...review, id: Number(lastInsertRowid) };
  }

  save(review: Review): void {
    this.#store
      .prepare('UPDATE reviews SET is_open = ?, record = ? WHERE id = ?')
      .run(review.state === 'open' ? 1 : 0, JSON.stringify(review), review.id);
  }

  find(id: number): Review | null {
    const row = this.#store.prepare('SELECT id, record FROM reviews WHERE id = ?').get(id) as Row | undefined;
    return row === undefined ? null : reviewOf(row);
  }

  /** The newest first. */
  list(project: string): Review[] {
    const sql = 'SELECT id, record FROM reviews WHERE project = ? ORDER BY id DESC';
    return (this.#store.prepare(sql).all(project) as Row[]).map(reviewOf);
  }

  openCount(project: string): number {
    const sql = 'SELECT count(*) AS count FROM reviews WHERE project = ? AND is_open = 1';
    return (this.#store.prepare(sql).get(project) as { count: number }).count;
  }
}

interface Row {
  readonly id: number;
  readonly record: string;
}

function reviewOf({ id, record }: Row): Review {
  return { ...(JSON.parse(record) as Omit<Review, 'id'>), id };
}
