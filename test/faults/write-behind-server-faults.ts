import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineName } from '#scripts/servers/start-servers.ts';
import { bufferHealth } from '../support/buffered/buffered-sidecar.ts';
import { seedOf } from '../support/test-seed.ts';
import {
  becomesHalted,
  becomesWhole,
  DOWN_MS,
  drained,
  eventually,
  openServerWorld,
  type ServerWorld,
  tellsThatItIsHalted,
  underLoad,
} from './buffered-world.ts';

const SEED = seedOf('WRITE_BEHIND_SEED');
const MAX_PENDING = 300;
const TIMEOUT_MS = 180_000 + 6 * DOWN_MS;

/** Faults of every server engine under a buffered namespace. */
export function describeBufferedFaults(
  engine: EngineName,
  more?: (world: () => ServerWorld, seed: number) => void,
): void {
  describe('a buffered namespace whose database', () => {
    let world: ServerWorld;
    beforeAll(async () => {
      world = await openServerWorld(engine, SEED);
    });
    afterAll(() => world?.stop());

    it(
      'is away under load, while the sidecar is killed, and is killed itself as it comes back',
      async () => {
        const { server, load } = world;
        await underLoad(world, async () => {
          await server.stop();
          await Promise.all([load.acknowledgements(100), wait(DOWN_MS)]);
          await becomesHalted(world);
          await tellsThatItIsHalted(world);
        });
        await world.restart();
        expect((await world.sidecar.client.get('/readyz')).status).toBe(503);
        await underLoad(world, () => becomesHalted(world));
        await server.start();
        const { pending } = await bufferHealth(world.sidecar.client);
        // In the middle of what waited, if there is a middle.
        await eventually(async () => {
          expect((await bufferHealth(world.sidecar.client)).pending).toBeLessThan(Math.max(pending, 1));
        });
        await server.kill();
        await server.start();
        await drained(world);
        await becomesWhole(world, SEED);
      },
      TIMEOUT_MS,
    );

    it(
      'hangs under load',
      async () => {
        const { server, load } = world;
        await underLoad(world, async () => {
          await server.pause();
          try {
            await Promise.all([load.acknowledgements(100), wait(DOWN_MS)]);
          } finally {
            await server.resume();
          }
        });
        await becomesWhole(world, SEED);
      },
      TIMEOUT_MS,
    );

    it(
      'is away until the queue is full: more is refused, and never applied',
      async () => {
        const { server, load } = world;
        await world.restart({ maxPending: MAX_PENDING });
        await underLoad(world, async () => {
          await server.stop();
          const isFull = async () => expect(load.refused('write_buffer_full')).toBeGreaterThan(50);
          await eventually(isFull);
          expect((await bufferHealth(world.sidecar.client)).pending).toBeLessThanOrEqual(MAX_PENDING);
        });
        await server.start();
        await drained(world);
        await becomesWhole(world, SEED);
      },
      TIMEOUT_MS,
    );

    more?.(() => world, SEED);
  });
}
