import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { QueueBatch } from '#engine/queues.ts';
import type { TableTarget } from '#engine/rows.ts';
import { declare, within } from '../engine-calls.ts';
import { begin, CASES, expectDone, TABLES } from '../queue-crash-cases.ts';
import { Cutter } from './cutter.ts';
import { WriteWorld } from './write-world.ts';

/**
 * A sidecar that dies before any of its commands in the work on a queue. The next attempt, by another process with the
 * same journal, brings rows, dead letters and position to where they would be without the crash.
 */

let world: WriteWorld;
let survivor: Engine;

beforeAll(async () => {
  world = await WriteWorld.open();
  survivor = await world.engine();
});

afterAll(() => world.close());

/** Collections that a sidecar reads by the clock, and not for a write. */
const LEASE_COLLECTIONS = ['_schemas', '_sidecars'];
/** Short, as a dead one tries to read until it is over. */
const VICTIM_MS = 3000;

/** False where the batch came through before the cut. */
async function crashAfter(commands: number, target: TableTarget, batch: QueueBatch): Promise<boolean> {
  const cutter = await Cutter.open(world.url, LEASE_COLLECTIONS);
  const victim = await world.engine({ url: cutter.url });
  await victim.count(target, null, within(10_000));
  const cut = cutter.cutAfter(commands).then(() => true);
  const done = victim.queues.applyQueue(batch, within(VICTIM_MS)).then(
    () => false,
    () => true,
  );
  const hasCrashed = await Promise.race([cut, done]);
  await cutter.close();
  return hasCrashed;
}

describe.concurrent('a sidecar dies before a command of', () => {
  it.each(Object.entries(CASES).map(([name, tested], i) => ({ name, tested, namespace: `case${i}` })))(
    '$name',
    { timeout: 90_000 },
    async ({ tested, namespace }) => {
      const target = (await declare(survivor, namespace, TABLES))[tested.table] as TableTarget;
      let crashes = 0;
      for (let commands = 0, hasCrashed = true; hasCrashed; commands++) {
        const batch = await begin(survivor, tested, target);
        hasCrashed = await crashAfter(commands, target, batch);
        if (hasCrashed) crashes += 1;
        // Batches need not be the same as before.
        const entries = batch.entries.slice(0, 1 + (commands % batch.entries.length));
        await survivor.queues.applyQueue({ ...batch, entries }, within(10_000));
        await survivor.queues.applyQueue(batch, within(10_000));
        await expectDone(survivor, tested, target, batch, `after ${commands} commands`);
      }
      expect(crashes).toBeGreaterThan(3);
    },
  );
});
