import { expect, it } from 'vitest';
import { CHART_SERIES, type ChartSeries, type ChartsAnswer } from '#panel/shapes/charts.ts';
import { fitAnswer } from '#panel/web/overview/fit-answer.ts';

/** An hour of empty points, but for the memory of the sidecar in the last `known`. */
function hourWith(known: number): ChartsAnswer {
  const empty = CHART_SERIES.map((name) => [name, Array.from({ length: 360 }, () => null)]);
  const series = Object.fromEntries(empty) as Record<ChartSeries, (number | null)[]>;
  for (let index = 360 - known; index < 360; index++) series.sidecarMemory[index] = 1;
  return { range: '1h', from: '2026-11-23T12:00:00.000Z', stepSeconds: 10, series, marks: [] };
}

it('cuts the empty time before the first sample', () => {
  const fitted = fitAnswer(hourWith(60));
  expect(fitted.from).toBe('2026-11-23T12:50:00.000Z');
  for (const name of CHART_SERIES) expect(fitted.series[name]).toHaveLength(60);
  expect(fitted.series.sidecarMemory[0]).toBe(1);
});

it('shows five minutes at least', () => {
  expect(fitAnswer(hourWith(2)).series.calls).toHaveLength(30);
  expect(fitAnswer(hourWith(0)).from).toBe('2026-11-23T12:55:00.000Z');
});

it('leaves a full hour as it is', () => {
  const full = hourWith(360);
  expect(fitAnswer(full)).toBe(full);
});
