import { describe, expect, it } from 'vitest';
import { HostChoice, type Standing } from '#engine/sql/pool/host-choice.ts';

const GOOD: Standing = { obstacle: null, epoch: 0 };
const STANDBY: Standing = { obstacle: 'standby', epoch: 0 };
const primary = (epoch: number): Standing => ({ obstacle: null, epoch });

/** Three hosts; only these are good at first. */
function threeHosts(...good: number[]): HostChoice {
  const choice = new HostChoice(3);
  for (const host of [0, 1, 2]) choice.saw(host, good.includes(host) ? GOOD : STANDBY, 0);
  return choice;
}

describe('the host of connections', () => {
  it('is the first that takes writes', () => {
    expect(threeHosts(0, 1, 2).current).toBe(0);
    expect(threeHosts(1, 2).current).toBe(1);
    expect(threeHosts().current).toBe(0);
  });

  it('stays until it fails, then is the next good one; all are tried in an order that begins with it', () => {
    const choice = threeHosts(0, 2);
    choice.failed(2, 1);
    expect(choice.current).toBe(0);
    choice.saw(2, GOOD, 2);
    choice.failed(0, 3);
    expect(choice.current).toBe(2);
    expect(choice.order()).toEqual([2, 0, 1]);
    choice.failed(2, 4);
    expect(choice.order()).toEqual([2, 0, 1]);
    choice.saw(1, GOOD, 5);
    expect(choice.current).toBe(1);
  });

  it('is an earlier one again after it was good for 30 s without a break', () => {
    const choice = threeHosts(0, 1);
    choice.failed(0, 1000);
    for (const now of [2000, 31_999]) choice.saw(0, GOOD, now);
    expect(choice.current).toBe(1);
    choice.failed(0, 31_999);
    for (const now of [33_000, 62_999]) choice.saw(0, GOOD, now);
    expect(choice.current).toBe(1);
    choice.saw(0, GOOD, 63_000);
    expect(choice.current).toBe(0);
  });

  it('is one that only reads if none takes writes, and a good one at once when there is one', () => {
    const choice = threeHosts();
    choice.makeDo(1);
    expect(choice.current).toBe(1);
    choice.saw(2, GOOD, 1);
    expect(choice.current).toBe(2);
    choice.makeDo(0);
    expect(choice.current).toBe(2);
  });
});

describe('a primary that was replaced', () => {
  it('is left at once, and is not good any more, however long it answers', () => {
    const choice = new HostChoice(2);
    choice.saw(0, primary(1), 0);
    choice.saw(1, primary(2), 10);
    expect(choice.current).toBe(1);
    for (const now of [20, 100_000]) choice.saw(0, primary(1), now);
    expect([choice.current, choice.isGood(0), choice.isReplaced(0)]).toEqual([1, false, true]);
    choice.failed(1, 100_001);
    choice.saw(0, primary(1), 100_002);
    expect(choice.isGood(0)).toBe(false);
  });

  it('is good again once it follows, and was promoted itself', () => {
    const choice = new HostChoice(2);
    choice.saw(0, primary(1), 0);
    choice.saw(1, primary(2), 10);
    choice.saw(0, STANDBY, 20);
    choice.saw(0, primary(3), 30);
    expect([choice.current, choice.isReplaced(1)]).toEqual([0, true]);
  });
});

describe('hosts to look at', () => {
  it('are the earlier ones; all if the current one is not good, or may have been replaced', () => {
    const choice = threeHosts(1, 2);
    expect(choice.toWatch(false)).toEqual([0]);
    expect(choice.toWatch(true)).toEqual([0, 2]);
    expect(threeHosts().toWatch(false)).toEqual([1, 2]);
    expect(threeHosts(0, 1, 2).toWatch(false)).toEqual([]);
  });
});
