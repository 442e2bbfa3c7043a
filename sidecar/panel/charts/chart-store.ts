import { CHART_SERIES, type ChartMark, type ChartSeries } from '../shapes/charts.ts';
import type { PanelStore } from '../store/panel-store.ts';

export type Sample = Readonly<Record<ChartSeries, number | null>>;

/** Steps of samples in seconds, and how long each is kept. A coarser step is made from the next finer one. */
const LEVELS = [
  { step: 10, keptSeconds: 2 * 3600 },
  { step: 60, keptSeconds: 26 * 3600 },
  { step: 600, keptSeconds: 8 * 86_400 },
] as const;

export const FINEST_STEP = LEVELS[0].step;

const KEPT_MARKS = 2000;

/** Aggregates that merge samples: peaks stay peaks. `calls` weighs the median latency, whose sum has no meaning. */
const TOGETHER: Readonly<Record<ChartSeries, string>> = {
  serverProcessor: 'avg(serverProcessor)',
  serverMemory: 'max(serverMemory)',
  sidecarProcessor: 'avg(sidecarProcessor)',
  sidecarMemory: 'max(sidecarMemory)',
  calls: 'avg(calls)',
  failures: 'avg(failures)',
  latencyP50: 'sum(latencyP50 * calls) / sum(CASE WHEN latencyP50 IS NULL THEN NULL ELSE calls END)',
  latencyP99: 'max(latencyP99)',
  players: 'max(players)',
};

const NAMES = CHART_SERIES.join(', ');
const GROUPED = CHART_SERIES.map((name) => TOGETHER[name]).join(', ');
const PLACES = CHART_SERIES.map(() => '?').join(', ');

/** Samples and marks in `panel.sqlite`: about three thousand rows, however long the sidecar runs. Times in epoch seconds. */
export class ChartStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  /** The time is a multiple of `FINEST_STEP`; replaces a sample of the same time (a clock that was set back). */
  add(time: number, sample: Sample): void {
    this.#lightly(() => {
      const values = CHART_SERIES.map((name) => sample[name]);
      const into = `INSERT OR REPLACE INTO chart_samples (step, time, ${NAMES}) VALUES (?, ?, ${PLACES})`;
      this.#store.prepare(into).run(FINEST_STEP, time, ...values);
      for (const [index, { step, keptSeconds }] of LEVELS.entries()) {
        const finer = LEVELS[index - 1];
        if (finer !== undefined) this.#gather(finer.step, step, time);
        this.#forget(step, time - keptSeconds, time);
      }
    });
  }

  mark(timeMs: number, kind: ChartMark['kind']): void {
    this.#lightly(() => {
      this.#store.prepare('INSERT INTO chart_marks (time, kind) VALUES (?, ?)').run(timeMs, kind);
      const rest = 'SELECT id FROM chart_marks ORDER BY id DESC LIMIT -1 OFFSET ?';
      this.#store.prepare(`DELETE FROM chart_marks WHERE id IN (${rest})`).run(KEPT_MARKS);
    });
  }

  /** Points of `stepSeconds` from `from` on, made from the stored samples of `sourceStep`. */
  points(sourceStep: number, stepSeconds: number, from: number): Map<number, Sample> {
    const sql = `
      SELECT time / ? * ? AS point, ${CHART_SERIES.map((name) => `${TOGETHER[name]} AS ${name}`).join(', ')}
      FROM chart_samples WHERE step = ? AND time >= ? GROUP BY point`;
    const rows = this.#store.prepare(sql).all(stepSeconds, stepSeconds, sourceStep, from) as (Sample & {
      readonly point: number;
    })[];
    return new Map(rows.map((row) => [row.point, row]));
  }

  /** The newest `limit`, oldest first. */
  marks(fromMs: number, limit: number): { readonly time: number; readonly kind: ChartMark['kind'] }[] {
    const sql = 'SELECT time, kind FROM chart_marks WHERE time >= ? ORDER BY time DESC, id DESC LIMIT ?';
    const rows = this.#store.prepare(sql).all(fromMs, limit) as { time: number; kind: ChartMark['kind'] }[];
    return rows.toReversed();
  }

  #gather(finer: number, step: number, time: number): void {
    const begin = Math.floor(time / step) * step;
    const into = `INSERT OR REPLACE INTO chart_samples (step, time, ${NAMES})
      SELECT ?, ?, ${GROUPED} FROM chart_samples WHERE step = ? AND time >= ? AND time < ? HAVING count(*) > 0`;
    this.#store.prepare(into).run(step, begin, finer, begin, begin + step);
  }

  /** Deletes old samples, and samples from the future that a wrong clock has left. */
  #forget(step: number, before: number, now: number): void {
    this.#store.prepare('DELETE FROM chart_samples WHERE step = ? AND (time < ? OR time > ?)').run(step, before, now);
  }

  /** Writes without waiting for the disk: a power failure may lose the last seconds of charts. */
  #lightly(work: () => void): void {
    if (this.#store.inTransaction) {
      work();
      return;
    }
    this.#store.pragma('synchronous = NORMAL');
    try {
      this.#store.transaction(work)();
    } finally {
      this.#store.pragma('synchronous = FULL');
    }
  }
}
