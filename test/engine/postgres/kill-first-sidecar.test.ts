import { expect, it } from 'vitest';
import { killFirstSidecar } from '#support/kill-first-sidecar.ts';

it('a connector with two addresses loses and doubles nothing when its sidecar is killed', async () => {
  const { failures, inserted, stored, additions, amount, isAtSecond } = await killFirstSidecar(
    'postgres',
    String(process.env.TEST_POSTGRES_URL),
  );
  expect(failures).toEqual([]);
  expect([...stored].sort()).toEqual([...inserted].sort());
  expect(amount).toBe(additions);
  expect(isAtSecond).toBe(true);
});
