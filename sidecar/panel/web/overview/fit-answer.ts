import { CHART_SERIES, type ChartSeries, type ChartsAnswer } from '#panel/shapes/charts.ts';

/** Least number of points that a chart shows: five minutes of the shortest range. */
const LEAST_POINTS = 30;

/** Without the empty time before the first sample, so that the first hour of a panel fills its charts. */
export function fitAnswer(answer: ChartsAnswer): ChartsAnswer {
  const { series, stepSeconds } = answer;
  const length = series.calls.length;
  const isKnown = (index: number) => CHART_SERIES.some((name) => series[name][index] !== null);
  let first = 0;
  while (first < length && !isKnown(first)) first += 1;
  const cut = Math.max(0, Math.min(first, length - LEAST_POINTS));
  if (cut === 0) return answer;
  const fitted = CHART_SERIES.map((name) => [name, series[name].slice(cut)]);
  return {
    ...answer,
    from: new Date(Date.parse(answer.from) + cut * stepSeconds * 1000).toISOString(),
    series: Object.fromEntries(fitted) as Record<ChartSeries, (number | null)[]>,
  };
}
