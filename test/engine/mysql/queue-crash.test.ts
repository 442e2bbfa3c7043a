import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { QueueBatch } from '#engine/queues.ts';
import type { TableTarget } from '#engine/rows.ts';
import { declare, within } from '../engine-calls.ts';
import { begin, CASES, expectDone, TABLES } from '../queue-crash-cases.ts';
import { startProxy } from './proxy.ts';
import { type MysqlWorld, openMysql, openWorld } from './world.ts';

/**
 * A sidecar that dies before any of its statements in the work on a queue, or before their answer. The next attempt, by
 * another process with the same journal, brings rows, dead letters and position to where they would be without the crash.
 */

let world: MysqlWorld;
let survivor: Engine;
const victims: Engine[] = [];

beforeAll(async () => {
  world = await openWorld();
  survivor = world.engine;
});

afterAll(async () => {
  await Promise.all(victims.map((victim) => victim.close()));
  await world.close();
});

/** False where the batch came through before. */
async function dieAfter(commands: number, isLost: boolean, target: TableTarget, batch: QueueBatch): Promise<boolean> {
  const proxy = await startProxy(world.url);
  const victim = await openMysql(proxy.url, [], 1);
  victims.push(victim);
  await victim.count(target, null, within(10_000));
  const death = proxy.dieAfter(commands, isLost).then(() => true);
  const done = victim.queues.applyQueue(batch, within(10_000)).then(
    () => false,
    () => true,
  );
  const isDead = await Promise.race([death, done]);
  await proxy.close();
  return isDead;
}

const TESTED = ['rows that come, go and come again', 'letters that are tried again'];

describe.concurrent('a sidecar dies', () => {
  const places = TESTED.flatMap((name, i) => [
    { name, when: 'before a statement', isLost: false, namespace: `sent${i}` },
    { name, when: 'before the answer to a statement', isLost: true, namespace: `lost${i}` },
  ]);
  it.each(places)('$when of $name', { timeout: 90_000 }, async ({ name, isLost, namespace }) => {
    const tested = CASES[name];
    if (tested === undefined) throw new Error(`no case ${name}`);
    const target = (await declare(survivor, namespace, TABLES))[tested.table] as TableTarget;
    let deaths = 0;
    for (let commands = isLost ? 1 : 0, isDead = true; isDead; commands++) {
      const batch = await begin(survivor, tested, target);
      isDead = await dieAfter(commands, isLost, target, batch);
      if (isDead) deaths += 1;
      await survivor.queues.applyQueue(batch, within(10_000));
      await expectDone(survivor, tested, target, batch, `after ${commands} statements`);
    }
    expect(deaths).toBeGreaterThan(5);
  });
});
