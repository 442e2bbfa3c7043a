import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { QueuedEntry } from '#engine/queues.ts';
import type { TableTarget } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { QueueModel, type Step, writeOfStep } from './queue-model.ts';
import { newQueue, type TestQueue, useEngines, within } from './queue-world.ts';

const world = useEngines();

const RUNS = 25;
const id = fc.integer({ min: 0, max: 6 });
const tag = fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 2 });
const row = fc.record({ id, tag });
const amount = fc.constantFrom(1, 5, 2 ** 31 - 3);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('insert'), rows: fc.array(row, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('upsert'), id, tag }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('count'), id, from: amount, amount }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('add'), id: fc.option(id), amount }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tag'), id, tag }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove'), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refused') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retry'), of: fc.nat(30) }) },
);

/** How a batch is sent: how long it is, by which sidecar, for how long it waits, and how far the next one goes back. */
const sending = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  isBeside: fc.boolean(),
  patienceMs: fc.option(fc.integer({ min: 0, max: 12 }), { freq: 1 }),
  back: fc.integer({ min: -4, max: 6 }),
});

type Sending = typeof sending extends fc.Arbitrary<infer T> ? T : never;

/** Each retry is of an entry before it that is no retry itself; where there is none yet it is left out. */
function resolved(drawn: readonly Step[]): Step[] {
  const program: Step[] = [];
  const writes: number[] = [];
  for (const one of drawn) {
    if (one.do !== 'retry') writes.push(program.push(one) - 1);
    else if (writes.length > 0) program.push({ ...one, of: writes[one.of % writes.length] as number });
  }
  return program;
}

function entriesOf(queue: TestQueue, items: TableTarget, steps: readonly Step[]): QueuedEntry[] {
  const entries: QueuedEntry[] = [];
  for (const one of steps) {
    const write = writeOfStep(one, items) ?? new ApiError('unknown_column', 'gone');
    if (one.do !== 'retry') entries.push(queue.entry(items, write));
    else {
      const again = entries[one.of] as QueuedEntry;
      const { letterId, work, payload, time } = again;
      entries.push({ ...queue.entry(items, write), letterId, work, payload, time, isRetry: true });
    }
  }
  return entries;
}

/** As the applier does after answers that were lost: some of it again, cut differently, until all of it is applied. */
async function send(queue: TestQueue, entries: readonly QueuedEntry[], sendings: readonly Sending[]): Promise<void> {
  const patient: Sending = { size: entries.length, isBeside: false, patienceMs: null, back: 0 };
  let next = 0;
  for (let i = 0; next < entries.length; i++) {
    const { size, isBeside, patienceMs, back } = sendings[i] ?? patient;
    const { queues } = isBeside ? world.beside : world.engine;
    try {
      await queues.applyQueue(queue.batch(entries.slice(next, next + size)), within(patienceMs ?? undefined));
      next = Math.max(0, next + size - Math.max(0, back));
    } catch (error) {
      // A passing failure, as it happens with little patience.
      if (!(error instanceof ApiError && ['database_timeout', 'database_error', 'conflict_retry'].includes(error.code)))
        throw error;
      if (patienceMs === null) throw error;
      next = Math.max(0, next - Math.max(0, back));
    }
  }
}

it('however a queue is cut into batches, and whatever is sent again, each entry is applied once and in order', async () => {
  const isWhole = world.engine.capabilities.transactions;
  const steps = fc.array(step, { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, fc.array(sending, { maxLength: 12 }), async (drawn, sendings) => {
      const program = resolved(drawn);
      const queue = await newQueue(world.engine);
      const items = await queue.target('items');
      const entries = entriesOf(queue, items, program);
      await send(queue, entries, sendings);

      const model = new QueueModel(!isWhole);
      for (const one of program) model.apply(one);
      expect(await queue.items(['id', 'n', 'tag'])).toEqual(model.items);
      const letters = (await queue.letters()).map((letter) => [letter.id, letter.code]);
      const expected = [...model.letters].map(([number, code]) => [entries[number]?.letterId, code]);
      expect(letters.toSorted()).toEqual(expected.toSorted());
      expect(await queue.row()).toMatchObject({ position: entries.length });
    }),
    { numRuns: RUNS },
  );
});
