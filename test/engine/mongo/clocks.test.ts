import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MongoDatabase } from '#engine/mongo/connection.ts';
import { type KeyedWrite, Operations } from '#engine/mongo/keyed/operations.ts';
import { MarkSweep } from '#engine/mongo/keyed/sweep.ts';
import { Call } from '#engine/mongo/session.ts';
import type { TableTarget } from '#engine/rows.ts';
import { declare, row, rowsOf, within } from '../engine-calls.ts';
import { slot, WriteWorld } from './write-world.ts';

/** Sidecars whose clocks are 20 s apart: whose turn a write with a key is does not depend on them. */

const APART_MS = 20_000;
const TABLES = [{ name: 'lines', columns: [{ name: 'n', type: 'int32' }] }];
const INSERT = { op: 'insert', rows: [row({ n: 1 })] } as const;
const DONE = '{"inserted":1,"ids":[]}';

let world: WriteWorld;
let call: Call;

beforeAll(async () => {
  world = await WriteWorld.open();
  call = new Call(world.client.db(), within(120_000));
});

afterAll(async () => {
  call.end();
  await world.close();
});

/** Another sidecar that begins this very write. */
function other(key: ReturnType<typeof slot>, { namespace }: TableTarget, run: KeyedWrite['run'], ms: number) {
  const write = { slot: key, collection: `${namespace}__lines`, marks: false, run };
  return new Operations({ sweep: new MarkSweep({} as MongoDatabase) }).run(call, write, within(ms));
}

async function boxOf(namespace: string, aheadMs: number) {
  const box = await world.engine({ aheadMs, statementTimeoutMs: APART_MS });
  const { lines } = await declare(box, namespace, TABLES);
  if (lines === undefined) throw new Error('lines is not declared');
  return { box, target: lines };
}

it('a sidecar whose clock is ahead leaves a write to the one that is at it', async () => {
  const { box, target } = await boxOf('ahead', APART_MS);
  const key = slot();
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<{ result: string; marked: null }>();
  const first = other(
    key,
    target,
    () => {
      begun.resolve();
      return finish.promise;
    },
    15_000,
  );
  await begun.promise;
  const second = box.write(target, INSERT, key, within(15_000));
  await expect(Promise.race([second, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))])).resolves.toBe(
    'waits',
  );
  finish.resolve({ result: DONE, marked: null });
  expect([await first, await second]).toEqual([DONE, DONE]);
  // The other one did nothing here, and this one left it to that.
  expect(await rowsOf(box, target)).toEqual([]);
});

it('a sidecar whose clock is behind takes the write of a dead one over once its time is over', async () => {
  const { box, target } = await boxOf('behind', -APART_MS);
  const key = slot();
  const begun = Promise.withResolvers<void>();
  const dies = () => {
    begun.resolve();
    return new Promise<never>(() => {});
  };
  void other(key, target, dies, 200);
  await begun.promise;
  expect(await box.write(target, INSERT, key, within(APART_MS))).toBe(DONE);
  expect(await rowsOf(box, target)).toEqual([{ n: 1 }]);
});
