import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resumeTransfers, transfer } from '#sample/transfer.ts';
import { Crash, SampleWorld } from './sample-world.ts';

const START = 1000;
const [ZOE, FRANK, OLGA, NOBODY] = [1, 2, 3, 4];

function newWorld(): SampleWorld {
  return new SampleWorld([ZOE, FRANK, OLGA], START);
}

/** How many calls one whole transfer makes: the places where it can die. */
async function callsOf(work: (world: SampleWorld) => Promise<unknown>): Promise<number> {
  const world = newWorld();
  await work(world);
  return world.calls;
}

describe('a transfer', () => {
  it('moves the amount and nothing else', async () => {
    const world = newWorld();
    expect(await transfer(world.game, { from: ZOE, to: FRANK, amount: 12_300n })).toBe('done');
    expect(world.money()).toEqual([START - 123, START + 123, START]);
    expect(world.states()).toEqual(['done']);
  });

  it('is refused where the money does not suffice, and moves nothing', async () => {
    const world = newWorld();
    expect(await transfer(world.game, { from: ZOE, to: FRANK, amount: 100_100n })).toBe('refused');
    expect(world.money()).toEqual([START, START, START]);
    expect(world.states()).toEqual(['refused']);
  });

  it('goes back to the sender where the receiver is gone', async () => {
    const world = newWorld();
    expect(await transfer(world.game, { from: ZOE, to: NOBODY, amount: 500n })).toBe('done');
    expect(world.money()).toEqual([START, START, START]);
  });

  it('is refused where the sender is gone', async () => {
    const world = newWorld();
    expect(await transfer(world.game, { from: NOBODY, to: ZOE, amount: 500n })).toBe('refused');
    expect(world.money()).toEqual([START, START, START]);
  });

  it('never begins with nothing to move, or with one party', async () => {
    const world = newWorld();
    await expect(transfer(world.game, { from: ZOE, to: FRANK, amount: 0n })).rejects.toThrow('amount');
    await expect(transfer(world.game, { from: ZOE, to: FRANK, amount: -500n })).rejects.toThrow('amount');
    await expect(transfer(world.game, { from: ZOE, to: ZOE, amount: 500n })).rejects.toThrow('two parties');
    expect(world.calls).toBe(0);
  });

  it('buys: the price is spent and the vehicle is there once', async () => {
    const world = newWorld();
    expect(await transfer(world.game, { from: ZOE, to: 'faggio', amount: 40_000n })).toBe('done');
    expect(world.money()).toEqual([START - 400, START, START]);
    expect(world.sidecar.rows('vehicles')).toMatchObject([{ owner_id: ZOE, model: 'faggio' }]);
    expect(world.surplus()).toBe(0);
  });
});

describe.each([
  ['to a character', FRANK],
  ['for a vehicle', 'faggio'],
])('a transfer %s that dies', (_, to) => {
  const order = { from: ZOE, to, amount: 40_000n };

  /** Dies at call `at`, is resumed by a new server, and is followed by one more, which overwrites the marks. */
  async function dieAndResume(world: SampleWorld, at: number, isForgotten: boolean): Promise<void> {
    await expect(transfer(world.game, order)).rejects.toThrow(Crash);
    expect(world.surplus(), `after dying at call ${at}`).toBe(0);
    if (isForgotten) world.sidecar.forget();
    world.restart();
    await resumeTransfers(world.game);
    expect(await transfer(world.game, { from: ZOE, to: FRANK, amount: 100n })).toBe('done');
    world.deliverLate();
    await resumeTransfers(world.game);
    expect(world.surplus(), `after resuming from call ${at}`).toBe(0);
    const moved = world.states()[0] === 'done' && world.states().length === 2 ? 400 : 0;
    expect(world.money()[0]).toBe(START - 1 - moved);
    expect(world.sidecar.rows('vehicles').length).toBe(to === 'faggio' && moved > 0 ? 1 : 0);
    expect(world.states().every((state) => state === 'done')).toBe(true);
  }

  it('before or after any of its calls is finished, also when no idempotency key is remembered', async () => {
    const calls = await callsOf(({ game }) => transfer(game, order));
    expect(calls).toBeGreaterThan(8);
    for (const isForgotten of [false, true]) {
      for (let at = 1; at <= calls; at += 1) {
        for (const moment of ['before', 'after'] as const) {
          const world = newWorld();
          world.dieAt(at, moment);
          await dieAndResume(world, at, isForgotten);
        }
      }
    }
  });

  it('while any of its calls is on its way, which arrives at any time after', async () => {
    const calls = await callsOf(({ game }) => transfer(game, order));
    for (let at = 1; at <= calls; at += 1) {
      for (let lateBy = 0; lateBy <= 2 * calls + 4; lateBy += 1) {
        const world = newWorld();
        world.dieAt(at, { lateBy });
        await dieAndResume(world, at, false);
      }
    }
  });

  it('loses the answer of any of its calls, and asks again after the key is forgotten', async () => {
    const calls = await callsOf(({ game }) => transfer(game, order));
    for (let at = 1; at <= calls; at += 1) {
      const world = newWorld();
      world.loseAnswerOf(at, () => world.sidecar.forget());
      expect(await transfer(world.game, order)).toBe('done');
      expect(world.surplus()).toBe(0);
      expect(world.money()[0]).toBe(START - 400);
    }
  });
});

describe.each([
  ['to a character', FRANK],
  ['for a vehicle', 'faggio'],
])('a transfer %s at once', (_, to) => {
  const order = { from: ZOE, to, amount: 40_000n };
  const newAtomicWorld = () => new SampleWorld([ZOE, FRANK, OLGA], START, true);

  function expectOnce(world: SampleWorld, times: number): void {
    expect(world.surplus()).toBe(0);
    expect(world.money()[0]).toBe(START - 400 * times);
    expect(world.states()).toEqual(Array(times).fill('done'));
    expect(world.sidecar.rows('vehicles')).toHaveLength(to === 'faggio' ? times : 0);
  }

  it('is one call, and is refused whole where the money does not suffice', async () => {
    const world = newAtomicWorld();
    expect(await transfer(world.game, order)).toBe('done');
    expect(world.calls).toBe(1);
    expectOnce(world, 1);
    expect(await transfer(world.game, { ...order, amount: 60_001n })).toBe('refused');
    expectOnce(world, 1);
  });

  it('is refused where one of the two is gone', async () => {
    const world = newAtomicWorld();
    expect(await transfer(world.game, { ...order, from: NOBODY })).toBe('refused');
    if (to === FRANK) expect(await transfer(world.game, { ...order, to: NOBODY })).toBe('refused');
    expectOnce(world, 0);
  });

  it.each(['before', 'after'] as const)('that dies %s its call happened whole or not at all', async (moment) => {
    const world = newAtomicWorld();
    world.dieAt(1, moment);
    await expect(transfer(world.game, order)).rejects.toThrow(Crash);
    world.restart();
    expect(await resumeTransfers(world.game)).toBe(0);
    expectOnce(world, moment === 'after' ? 1 : 0);
  });

  it('happens once where the answer is lost, also after the key is forgotten', async () => {
    const world = newAtomicWorld();
    world.loseAnswerOf(1, () => world.sidecar.forget());
    expect(await transfer(world.game, order)).toBe('done');
    expect(world.calls).toBe(2);
    expectOnce(world, 1);
  });
});

describe('a transfer that two servers resume', () => {
  /** The first server stands still before one of its calls; meanwhile the second finishes everything and goes on. */
  async function resumeTwice(world: SampleWorld, standsStillAt: number): Promise<void> {
    const second = world.anotherGame();
    let calls = 0;
    world.schedule = async (name) => {
      if (!name.endsWith('goes out')) return;
      calls += 1;
      if (calls !== standsStillAt) return;
      await resumeTransfers(second);
      await transfer(second, { from: ZOE, to: FRANK, amount: 100n });
      world.sidecar.forget();
    };
    await resumeTransfers(world.game);
  }

  it('is done once, whenever the one overtakes the other, also when no idempotency key is remembered', async () => {
    const order = { from: ZOE, to: FRANK, amount: 40_000n };
    const calls = await callsOf(({ game }) => transfer(game, order));
    for (let diedAt = 1; diedAt < calls; diedAt += 1) {
      for (let standsStillAt = 1; standsStillAt <= calls; standsStillAt += 1) {
        const world = newWorld();
        world.dieAt(diedAt, 'after');
        await expect(transfer(world.game, order)).rejects.toThrow(Crash);
        world.restart();
        await resumeTwice(world, standsStillAt);
        expect(world.surplus(), `died at ${diedAt}, overtaken at ${standsStillAt}`).toBe(0);
        expect(world.states()[0]).toBe('done');
        expect(START - (world.money()[0] ?? 0)).toBe(world.states().length === 2 ? 401 : 400);
      }
    }
  });
});

describe('many transfers at once', () => {
  const orders = fc.array(
    fc.record({
      from: fc.integer({ min: 1, max: 3 }),
      step: fc.integer({ min: 1, max: 3 }),
      amount: fc.bigInt(1n, 9n),
    }),
    { minLength: 2, maxLength: 6 },
  );

  it('keep every cent at every moment, in any order of their calls, also when two servers work on the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), orders, fc.nat(60), async (scheduler, list, diesAt) => {
        const world = newWorld();
        world.schedule = (name) => scheduler.schedule(Promise.resolve(), name);
        world.afterEach = () => expect(world.surplus()).toBe(0);
        world.dieAt(diesAt, 'after');
        const first = world.game;
        const running = list.map(({ from, step, amount }) => {
          const to = ((from + step - 1) % 3) + 1;
          return transfer(first, { from, to: to === from ? 'faggio' : to, amount: amount * 10_000n });
        });
        await scheduler.waitFor(Promise.allSettled(running));

        // The first server is dead or done; two more resume what it left, at the same time, and go on.
        world.restart();
        const second = world.game;
        const third = world.anotherGame();
        const resumed = [
          resumeTransfers(second),
          resumeTransfers(third),
          transfer(second, { from: 1, to: 2, amount: 100n }),
        ];
        await scheduler.waitFor(Promise.all(resumed));
        expect(world.states().every((state) => state === 'done' || state === 'refused')).toBe(true);
        expect(world.surplus()).toBe(0);
        expect(Math.min(...world.money())).toBeGreaterThanOrEqual(0);
        const sold = world.sidecar.rows('vehicles').length;
        const bought = world.sidecar.rows('bank_transactions').filter(({ item, state }) => item && state === 'done');
        expect(sold).toBe(bought.length);
      }),
      { numRuns: 150 },
    );
  });
});
