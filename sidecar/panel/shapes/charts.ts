export const CHART_RANGES = ['1h', '6h', '24h', '7d'] as const;
export type ChartRange = (typeof CHART_RANGES)[number];

export const CHART_SERIES = [
  /** Percent of one processor; over 100 where it uses several. */
  'serverProcessor',
  /** Bytes. */
  'serverMemory',
  'sidecarProcessor',
  'sidecarMemory',
  /** Calls of the API a second; those of them that were refused or failed. */
  'calls',
  'failures',
  /** Milliseconds, from the head of a call to its answer. */
  'latencyP50',
  'latencyP99',
  /** Where the backend tells. */
  'players',
] as const;
export type ChartSeries = (typeof CHART_SERIES)[number];

/** `GET /api/charts?range=`; about 350 points. */
export interface ChartsAnswer {
  readonly range: ChartRange;
  /** Point `i` is of the `stepSeconds` that begin at `from` + i × `stepSeconds`. ISO 8601 UTC. */
  readonly from: string;
  readonly stepSeconds: number;
  /** All of one length. A point is null if the server did not run or does not report the value. */
  readonly series: Readonly<Record<ChartSeries, readonly (number | null)[]>>;
  /** Oldest first; within the range, the newest 200. */
  readonly marks: readonly ChartMark[];
}

export interface ChartMark {
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly kind: 'start' | 'restart' | 'stop' | 'crash';
}
