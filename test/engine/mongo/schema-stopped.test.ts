import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { RemovedMode } from '#sidecar/schema/plan.ts';
import { Cutter } from './cutter.ts';
import { type Declared, MongoWorld, NOW, syncer, within } from './schema-world.ts';

/** A sidecar that is stopped in the middle of a schema change, which another one finishes, and then goes on. */

const TIMEOUT_MS = 60_000;
/** More than one batch. */
const ROWS = 1500;

let world: MongoWorld;
/** Takes leases of the stopped one over at once, as if 10 s had passed. */
let other: Engine;
let cutter: Cutter;
let stopped: Engine;

beforeAll(async () => {
  world = await MongoWorld.open();
  other = await world.engine();
});

beforeEach(async () => {
  cutter = await Cutter.open(world.url, ['_locks']);
  stopped = await world.engine(cutter.url);
});

afterEach(async () => {
  await stopped.close();
  await cutter.close();
});

afterAll(async () => {
  await other.close();
  await world.close();
});

const ID = { name: 'id', type: 'int32' };
const keyed = (name: string, ...columns: object[]) => ({ name, primaryKey: ['id'], columns: [ID, ...columns] });
const SCORE = { name: 'score', type: 'int32', nullable: true };
const fill = (name: string) =>
  world.collection(name).insertMany(Array.from({ length: ROWS }, (_, id) => ({ id, score: 1 })));

/** Stops the sidecar behind a command of its work, until `meanwhile` is done; its work is then another one's. */
async function stopBehind(
  [command, collection]: readonly [string, string],
  work: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await stopped.schemas.readSchema('none', within(5000));
  const held = cutter.holdBehind(command, collection);
  const running = expect(work()).rejects.toMatchObject({ code: 'conflict_retry' });
  await held;
  await meanwhile();
  cutter.release();
  await running;
}

async function declare(engine: Engine, namespace: string, tables: Declared, removed?: RemovedMode): Promise<void> {
  expect(await syncer(engine, removed)(namespace, tables)).toMatchObject({ namespace });
}

describe('a sidecar that goes on after another one has finished its change', { timeout: TIMEOUT_MS }, () => {
  it('fills no column of rows that were changed since', async () => {
    const after = [keyed('t', { ...SCORE, default: 5 })];
    await declare(other, 'filled', [keyed('t')]);
    await world.collection('filled__t').insertMany(Array.from({ length: ROWS }, (_, id) => ({ id })));
    await stopBehind(
      ['update', 'filled__t'],
      () => syncer(stopped)('filled', after),
      async () => {
        await declare(other, 'filled', after);
        await world.collection('filled__t').updateMany({}, { $unset: { score: '' } });
      },
    );
    expect(await world.collection('filled__t').countDocuments({ score: { $exists: true } })).toBe(0);
  });

  it('puts back no kept value over a newer one', async () => {
    await declare(other, 'restored', [keyed('t', SCORE)]);
    await fill('restored__t');
    await declare(other, 'restored', [keyed('t')]);
    const [kept] = await other.schemas.listQuarantine('restored', within(5000));
    await stopBehind(
      ['find', `_q${kept?.id}_restored__t__score`],
      () => stopped.schemas.restoreQuarantine(Number(kept?.id), NOW, within(30_000)),
      async () => {
        await declare(other, 'restored', [keyed('t', SCORE)]);
        await world.collection('restored__t').updateMany({}, { $set: { score: 2 } });
      },
    );
    expect(await world.collection('restored__t').countDocuments({ score: 2 })).toBe(ROWS);
  });

  it('drops no table that was declared again', async () => {
    await declare(other, 'dropped', [keyed('t')]);
    await fill('dropped__t');
    await stopBehind(
      ['drop', '_gone_dropped__t'],
      () => syncer(stopped, 'drop')('dropped', []),
      async () => {
        await declare(other, 'dropped', [], 'drop');
        await declare(other, 'dropped', [keyed('t')]);
        await fill('dropped__t');
      },
    );
    expect(await world.collection('dropped__t').countDocuments()).toBe(ROWS);
  });

  it('drops no index that was declared again', async () => {
    const indexes = [
      { name: 'a', columns: ['score'], unique: true },
      { name: 'b', columns: ['score', 'id'], unique: true },
    ];
    await declare(other, 'indexed', [{ ...keyed('t', SCORE), indexes }]);
    const made = async () => (await world.collection('indexed__t').indexes()).map(({ name }) => name).sort();
    const before = await made();
    await stopBehind(
      ['dropIndexes', 'indexed__t'],
      () => syncer(stopped)('indexed', [keyed('t', SCORE)]),
      async () => {
        await declare(other, 'indexed', [keyed('t', SCORE)]);
        await declare(other, 'indexed', [{ ...keyed('t', SCORE), indexes }]);
      },
    );
    expect(await made()).toEqual(before);
  });

  it('lists nothing in quarantine that was purged', async () => {
    await declare(other, 'kept', [keyed('t')]);
    await fill('kept__t');
    const listed = () => other.schemas.listQuarantine('kept', within(5000));
    const numbers = await world.collection('_generators').findOne({ _id: '_quarantine' as never });
    await stopBehind(
      ['aggregate', `_q${Number(numbers?.ids ?? 0) + 1}_kept__t`],
      () => syncer(stopped)('kept', []),
      async () => {
        await declare(other, 'kept', []);
        for (const { id } of await listed()) await other.schemas.purgeQuarantine(id, within(5000));
      },
    );
    expect(await listed()).toEqual([]);
  });
});
