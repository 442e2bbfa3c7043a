import { expect, test } from 'vitest';
import type { Answer, BatchStep, WriteWork } from '#sidecar/engine/sqlite/worker/messages.ts';
import { packAnswers, packCall, unpackAnswers, unpackCalls } from '#sidecar/engine/sqlite/worker/packed.ts';
import type { CallBody } from '#sidecar/engine/sqlite/worker/pending-call.ts';

const generator = { table: 'game__things', maxId: 9_223_372_036_854_775_807n, position: 0 };
const slot = { kid: 'local', namespace: 'game', key: 'k', fingerprint: 'f', now: 1, expiresAt: 2 };
const fault = { code: 'missing_value', message: 'name: expected a value' } as const;
const change: WriteWork = { do: 'change', statement: 2, params: ['a', null, 2.5, 2n ** 60n], isSingleRow: true };
const generated: WriteWork = {
  do: 'insert',
  statement: 1,
  values: [null, 'a', null, 'b'],
  width: 2,
  ids: null,
  generator,
};
const given: WriteWork = { do: 'insert', statement: 1, values: [], width: 2, ids: ['1', '"x"'], generator: null };
const upsert: WriteWork = {
  ...{ do: 'upsert', statement: 3, params: [1], insert: 4, row: [1, new Uint8Array([7])] },
  ...{ generator, affectedExisting: 1, insertFault: fault },
};
const steps: (BatchStep | typeof fault | null)[] = [
  { work: generated, expected: 2 },
  null,
  fault,
  { work: upsert, expected: null },
  { work: change, expected: 0 },
];

test('calls of every kind come out of one list as they went in', () => {
  const write = { kind: 'write', namespace: 'game', revision: 5 } as const;
  const bodies: CallBody[] = [
    ...[change, generated, given, upsert].map((work) => ({ ...write, work, slot: null })),
    { kind: 'recall', params: ['local', 'game', 'k', 1] },
    { ...write, work: { do: 'batch', isAtomic: true, steps }, slot },
    { kind: 'purge', now: 3 },
    { ...write, work: { do: 'batch', isAtomic: false, steps: [] }, slot: null },
  ];
  const calls = bodies.map((body, index) => ({ ...body, sequence: index + 1, deadline: index + 0.5, budgetMs: null }));
  const packed: unknown[] = [];
  for (const { sequence, deadline, budgetMs, ...body } of calls)
    packCall(body, { sequence, deadline, budgetMs }, packed);

  expect(unpackCalls(structuredClone(packed))).toEqual(calls);
});

test('answers come out of one list as they went in', () => {
  const answers: Answer[] = [
    { sequence: 1, value: '{"affected":1}', failure: null, ranMs: 0.25 },
    { sequence: 2, value: null, failure: { kind: 'stale', namespace: 'game' }, ranMs: 0 },
    { sequence: 3, value: { rows: '[]', hasMore: false }, failure: null, ranMs: 12 },
  ];

  expect(unpackAnswers(structuredClone(packAnswers(answers)))).toEqual(answers);
});
