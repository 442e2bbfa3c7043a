import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { beforePhone, checkAfterCrash, declarePhone } from '../parts-crash.ts';
import { MongoWorld } from './schema-world.ts';

let world: MongoWorld;
let steady: Engine;

beforeAll(async () => {
  world = await MongoWorld.open();
  steady = await world.engine();
});

afterAll(async () => {
  await steady.close();
  await world.close();
});

it('a part that was cut off anywhere is whole or not there, and nobody else is touched', async () => {
  const seen = new Set<string>();
  // Steps of three meet every kind of place, and the command that a place falls on is another one each time.
  for (let commands = 0, isCut = true; isCut; commands += 3) {
    const namespace = `cut${commands}`;
    await beforePhone(steady.schemas, namespace);
    isCut = await world.crashes(commands, (engine) => declarePhone(engine.schemas, namespace));
    if (isCut) seen.add(await checkAfterCrash(steady.schemas, namespace));
  }
  expect(seen.size).toBe(2);
}, 120_000);
