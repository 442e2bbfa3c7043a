import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { emptyDisk, fillDisk, whyNoSmallDisk } from '#scripts/servers/small-disk.ts';
import { provideStrace } from '#scripts/servers/strace-program.ts';
import { endProcess, flush, logged, readState } from '../support/buffered/buffered-sidecar.ts';
import { NAMESPACE } from '../support/buffered/oracle.ts';
import { describeIf } from '../support/describe-if.ts';
import { itIf } from '../support/it-if.ts';
import { seedOf } from '../support/test-seed.ts';
import { type DiskWorld, expectAllRight, openDiskWorld } from './disk-world.ts';
import { openSmallDisk } from './small-journal-disk.ts';

/**
 * The journal's disk fails under load: what was acknowledged is applied once, what was refused never, what is said to be
 * unknown at most once, and the journal comes back by itself.
 */

const SEED = seedOf('WRITE_BEHIND_SEED');
const RECOVERY_MS = 20_000;
/** A note that some of them fill any segment that is there already. */
const BIG = 'n'.repeat(900_000);

const noStrace = await provideStrace((line) => console.log(line)).then(
  () => null,
  (error: Error) => error.message,
);

let world: DiskWorld;
afterEach(() => world?.stop());

/** A write of its own, outside the load. */
function probe(note = ''): Promise<{ ok: boolean; code: string; message: string }> {
  const row = { id: 'probe', seq: 0, note };
  return world.sidecar.client.call('upsert', { namespace: NAMESPACE, table: 'latest', row, keys: ['id'] });
}

async function whileFailing(
  hurt: () => Promise<unknown>,
  check: () => Promise<void>,
  heal: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  const running = world.load.run(world.sidecar.client, () => isOver);
  await world.load.acknowledgements(50);
  await hurt();
  try {
    await check();
  } finally {
    await heal();
  }
  await vi.waitFor(async () => expect(await probe()).toMatchObject({ ok: true }), { timeout: RECOVERY_MS });
  await world.load.acknowledgements(50);
  isOver = true;
  await running;
}

async function whileInjecting(fault: string, check: () => Promise<void>): Promise<void> {
  let heal = async (): Promise<void> => {};
  const hurt = async () => {
    heal = await world.inject(fault);
  };
  await whileFailing(hurt, check, () => heal());
}

describeIf(noStrace, 'system calls on the journal that fail', () => {
  beforeEach(async () => {
    world = await openDiskWorld(SEED);
  });

  it('a flush that fails: nothing is acknowledged, the outcome is unknown, and it comes back by itself', async () => {
    await whileInjecting('fdatasync:error=EIO', async () => {
      // Writes of the group whose flush failed; later ones are not even accepted.
      await vi.waitFor(() => expect(world.load.unknown).toBeGreaterThan(0), { timeout: 30_000, interval: 1 });
      await vi.waitFor(async () => expect((await probe()).code).toBe('write_buffer_unavailable'), {
        timeout: 30_000,
      });
      const before = world.load.queued;
      for (let i = 0; i < 10; i += 1) expect(await probe()).toMatchObject({ code: 'write_buffer_unavailable' });
      expect(world.load.queued).toBe(before);
    });
    expect(logged(world.sidecar, 'error')).toMatch(/journal/i);
    await expectAllRight(world, SEED);
  });

  it('no room for a write: it was not accepted, and is never applied', async () => {
    await whileInjecting('pwrite64:error=ENOSPC', async () => {
      await vi.waitFor(async () => expect((await probe()).code).toBe('write_buffer_unavailable'), { timeout: 30_000 });
      for (let i = 0; i < 10; i += 1) {
        const { code, message } = await probe();
        expect(code).toBe('write_buffer_unavailable');
        expect(message).not.toMatch(/unknown/);
      }
    });
    await expectAllRight(world, SEED);
  });

  for (const fault of ['fdatasync:signal=SIGKILL:when=3', 'pwrite64:signal=SIGKILL:when=4']) {
    it(`killed inside the flush (${fault})`, async () => {
      const gone = once(world.sidecar.child, 'exit');
      const running = world.load.run(world.sidecar.client, () => false);
      await world.load.acknowledgements(20);
      const heal = await world.inject(fault);
      await gone;
      await running;
      await heal();
      await world.start();
      await world.load.repeatKeys(world.sidecar.client);
      await expectAllRight(world, SEED);
    });
  }
});

/** Nothing leaves the journal by itself. */
const KEPT = { flushIntervalMs: 3_600_000, flushAtPending: 1_000_000 };

describe('a journal on a disk', async () => {
  itIf(noStrace, 'that says it has written and has not: what is lost is said, and nothing else is lost', async () => {
    world = await openDiskWorld(SEED, { writeBehind: KEPT });
    const insert = async (when: string): Promise<string[]> => {
      // In turn, so that each is a group of its own: one sector.
      const tags = [0, 1, 2].map((n) => `${when}-${n}`);
      for (const tag of tags) {
        const rows = [{ tag, part: 0 }];
        await world.sidecar.client.must('insert', { namespace: NAMESPACE, table: 'events', rows });
      }
      return tags;
    };
    const kept = await insert('before');
    const heal = await world.inject('pwrite64:retval=512', 'fdatasync:retval=0');
    const lied = await insert('lied');
    await heal();
    kept.push(...(await insert('after')));
    await endProcess(world.sidecar, 'SIGKILL');
    await world.start();
    expect(await flush(world.sidecar.client)).toMatchObject({ remaining: 0, deadLettered: 0, halted: false });
    const { events } = await readState(world.sidecar.client);
    expect(events.map(({ tag }) => tag).filter((tag) => !lied.includes(tag))).toEqual(kept);
    // Else the disk did not lie.
    expect(events.length).toBeLessThan(kept.length + lied.length);
    expect(logged(world.sidecar, 'error')).toMatch(/acknowledged.* lost/);
  });

  itIf(
    await whyNoSmallDisk(),
    'that is full to the last byte: short writes and refusals lose nothing, and it goes on with room',
    async () => {
      const disk = await openSmallDisk();
      try {
        world = await openDiskWorld(SEED, { folder: disk.folder, wrapper: disk.wrapper });
        await whileFailing(
          async () => fillDisk(disk.seenFrom(world.sidecar.pid)),
          async () => {
            await vi.waitFor(async () => expect((await probe(BIG)).code).toBe('write_buffer_unavailable'), {
              timeout: 30_000,
              interval: 1,
            });
          },
          async () => emptyDisk(disk.seenFrom(world.sidecar.pid)),
        );
        await expectAllRight(world, SEED);
      } finally {
        disk.close();
      }
    },
  );
});
