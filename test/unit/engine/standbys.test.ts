import { expect, it } from 'vitest';
import { neededStandbys } from '#engine/postgres/driver.ts';

it.each([
  ['standby', 1],
  ['a, b', 1],
  ['*', 1],
  ['ANY 1 (standby)', 1],
  ['any 2 (a, b, c)', 2],
  ['FIRST 3 (a, b, c)', 3],
  ['2 (a, b)', 2],
  [' 2( a, b )', 2],
  ['"2 (a", b', 1],
])('synchronous_standby_names = %s waits for %i', (setting, needed) => {
  expect(neededStandbys(setting)).toBe(needed);
});
