import { describe, expect, it } from 'vitest';
import { makeCharacter } from '#sample/population.ts';

const town = Array.from({ length: 5000 }, (_, index) => makeCharacter(index + 1, 20771));

describe('the population', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(makeCharacter(77, 20771)).toEqual(town[76]);
    const names = town.slice(0, 100).map(({ name }) => name);
    expect(names.map((_, index) => makeCharacter(index + 1, 1).name)).not.toEqual(names);
  });

  it('has accents, emoji and apostrophes in its names, and every trade', () => {
    const names = town.map(({ name }) => name).join('\n');
    expect(names).toMatch(/ë/);
    expect(names).toMatch(/\p{Emoji_Presentation}/u);
    expect(names).toMatch(/O'Brien/);
    expect(new Set(town.map(({ job }) => job)).size).toBe(5);
  });

  it('is born with as much money as was paid in', () => {
    expect(town.every(({ money, paid_in }) => money === paid_in && /^\d+\.\d\d$/.test(money))).toBe(true);
    expect(new Set(town.map(({ money }) => money)).size).toBeGreaterThan(4000);
  });

  it('has no two phones alike, and fits its columns', () => {
    expect(new Set(town.map(({ phone }) => phone)).size).toBe(5000);
    expect(Math.max(...town.map(({ name }) => [...name].length))).toBeLessThanOrEqual(80);
  });
});
