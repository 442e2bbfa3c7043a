import { describe, expect, it } from 'vitest';
import { audit, describeAudit } from '#sample/audit.ts';
import { transfer } from '#sample/transfer.ts';
import { SampleWorld } from './sample-world.ts';

const newWorld = () => new SampleWorld([1, 2, 3], 1000);

describe('the audit', () => {
  it('adds up what people have', async () => {
    const world = newWorld();
    const sums = await audit(world.game);
    expect(sums).toEqual({
      characters: 3,
      money: 300_000n,
      paidIn: 300_000n,
      spent: 0n,
      onTheWay: 0n,
      surplus: 0n,
    });
    expect(describeAudit(sums)).toBe('audit ok: 3 characters hold 3,000.00; paid in 3,000.00, spent 0.00');
  });

  it.each([
    ['to a character', 2],
    ['for a vehicle', 'faggio'],
  ])('is right about a transfer %s that stands anywhere', async (_, to) => {
    const seenOnTheWay = new Set<bigint>();
    for (let at = 1; at <= 12; at += 1) {
      const world = newWorld();
      world.dieAt(at, 'after');
      await transfer(world.game, { from: 1, to, amount: 40_000n }).catch(() => {});
      world.restart();
      const sums = await audit(world.game);
      expect(sums.surplus, `died at call ${at}`).toBe(0n);
      seenOnTheWay.add(sums.onTheWay);
    }
    expect([...seenOnTheWay]).toEqual(typeof to === 'number' ? [0n, 40_000n] : [0n]);
  });

  it('is loud about what is too much and what is missing', async () => {
    const world = newWorld();
    const [zoe] = world.sidecar.rows('characters');
    Object.assign(zoe ?? {}, { money: 1000.01 });
    expect(describeAudit(await audit(world.game))).toMatch(
      /^!!! AUDIT MISMATCH of 0\.01 !!! 3 characters hold 3,000\.01/,
    );
    Object.assign(zoe ?? {}, { money: 0 });
    expect(describeAudit(await audit(world.game))).toMatch(/^!!! AUDIT MISMATCH of -1,000\.00 !!!/);
  });

  it('waits for a transfer that is under way, and holds back the next', async () => {
    const world = newWorld();
    const order = { from: 1, to: 2, amount: 100n };
    const [, sums] = await Promise.all([transfer(world.game, order), audit(world.game), transfer(world.game, order)]);
    expect(sums).toMatchObject({ onTheWay: 0n, surplus: 0n });
    expect(world.money()).toEqual([998, 1002, 1000]);
  });
});
