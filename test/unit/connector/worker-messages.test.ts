import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Outcome } from '#connector/client/outcome.ts';
import { END_FIELDS, endAt, type Field, pushEnd } from '#connector/worker/messages.ts';

const outcome: fc.Arbitrary<Outcome> = fc.record({
  result: fc.record({
    state: fc.constantFrom('ok' as const, 'error' as const),
    status: fc.constantFrom(0, 200, 201, 400, 503),
    code: fc.constantFrom('', 'network', 'not_found'),
    json: fc.string({ unit: 'binary' }),
  }),
  transport: fc.constantFrom('success' as const, 'failure' as const, 'nothing' as const),
  next: fc.constantFrom('again' as const, 'setClock' as const, 'elsewhere' as const, 'nothing' as const),
  retryAfterMs: fc.option(fc.nat()),
});
const usual = fc.string({ unit: 'grapheme' }).map(
  (json): Outcome => ({
    result: { state: 'ok', status: 200, code: '', json },
    ...{ transport: 'success', next: 'nothing', retryAfterMs: null },
  }),
);
const end = fc.record({
  id: fc.nat(),
  outcome: fc.oneof(outcome, usual),
  tookMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  told: fc.option(fc.record({ totalMs: fc.nat(), databaseMs: fc.nat() })),
});

it('ends of attempts cross to the other thread as they are', () => {
  fc.assert(
    fc.property(fc.array(end), (ends) => {
      const fields: Field[] = [];
      for (const { id, outcome: given, tookMs, told } of ends) pushEnd(fields, id, given, tookMs, told);
      const crossed = structuredClone(fields);
      expect(ends.map((_, index) => endAt(crossed, index * END_FIELDS))).toEqual(ends);
    }),
  );
});
