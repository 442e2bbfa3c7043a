import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CallCounter } from '#panel/charts/latency.ts';

it('without calls there is no latency', () => {
  expect(new CallCounter().take()).toEqual({ calls: 0, failures: 0, p50: null, p99: null });
});

it('percentiles are those of the calls, at most a quarter too high', () => {
  const latencies = fc.array(fc.double({ min: 0.06, max: 60_000, noNaN: true }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(latencies, (list) => {
      const counter = new CallCounter();
      for (const ms of list) counter.add(ms, false);
      const sorted = list.toSorted((a, b) => a - b);
      const figures = counter.take();
      for (const [part, found] of [
        [0.5, figures.p50],
        [0.99, figures.p99],
      ] as const) {
        const exact = sorted[Math.ceil(sorted.length * part) - 1] as number;
        expect(found).toBeGreaterThanOrEqual(exact * 0.999);
        expect(found).toBeLessThanOrEqual(exact * 1.251);
      }
    }),
  );
});

it('begins anew each time, and counts failures', () => {
  const counter = new CallCounter();
  counter.add(1, true);
  counter.add(Number.MAX_VALUE, false);
  expect(counter.take()).toMatchObject({ calls: 2, failures: 1 });
  expect(counter.take()).toMatchObject({ calls: 0, failures: 0, p50: null });
});
