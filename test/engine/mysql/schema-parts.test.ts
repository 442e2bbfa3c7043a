import { afterAll, beforeAll, expect, it } from 'vitest';
import { beforePhone, checkAfterCrash, declarePhone } from '../parts-crash.ts';
import { CrashingSessions, deathsOf, inParallel, type SchemaWorld, schemaWorld } from './schema-world.ts';

let world: SchemaWorld;

beforeAll(async () => {
  world = await schemaWorld();
});

afterAll(async () => {
  await world.drop();
});

it('a part that was cut off anywhere is whole or not there, and nobody else is touched', async () => {
  const whole = new CrashingSessions(world.url);
  await beforePhone(world.calls(), 'whole');
  await declarePhone(world.calls(whole), 'whole');
  const seen = new Set<string>();
  await inParallel(deathsOf(whole), async (at) => {
    const namespace = `cut${at}`;
    await beforePhone(world.calls(), namespace);
    await declarePhone(world.calls(new CrashingSessions(world.url, at)), namespace).catch(() => {});
    seen.add(await checkAfterCrash(world.calls(), namespace));
  });
  expect(seen.size).toBe(2);
}, 120_000);
