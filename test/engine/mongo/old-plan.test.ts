import { Int32, Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { AFTER, BEFORE, type KeptIds, MONGO_PENDING, RESTORED } from '#support/old-build/pending-changes.ts';
import { MongoWorld, NOW, syncer, within } from './schema-world.ts';

/** Many places of a crash, each with collections to make. */
const TIMEOUT_MS = 120_000;

/**
 * A schema change that an older build stored and did not finish: it ended before any of the commands after that. The
 * present build finds the older text and the position that the older build had reached.
 */

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

/** Changes the stored text into that of the older build; false if no change is pending. */
async function grownOld(namespace: string, kind: keyof typeof MONGO_PENDING, ids: KeptIds): Promise<boolean> {
  const schemas = world.collection('_schemas');
  const stored = await schemas.findOne({ _id: namespace as never });
  if (stored?.pending === undefined) return false;
  const { token, position } = stored.pending as { readonly token: string; readonly position: number };
  const pending = { token, position, ...MONGO_PENDING[kind]({ namespace, now: NOW, ...ids }) };
  await schemas.updateOne({ _id: namespace as never }, { $set: { pending } });
  return true;
}

/** Ids that the change reserved last. */
async function reservedIds(): Promise<KeptIds> {
  const given = await world.collection('_generators').findOne({ _id: '_quarantine' as never });
  return { column: Number(given?.ids) - 1, table: Number(given?.ids) };
}

async function keptIds(namespace: string): Promise<KeptIds> {
  const objects = await steady.schemas.listQuarantine(namespace, within(5000));
  const idOf = (kind: string) => Number(objects.find((object) => object.kind === kind)?.id);
  return { column: idOf('column'), table: idOf('table') };
}

let count = 0;

async function prepared(): Promise<string> {
  const namespace = `old${count++}`;
  await syncer(steady)(namespace, BEFORE);
  const rows = [1, 2].map((n) => ({ id: Long.fromNumber(n), x: n === 1 ? 'one' : 'two', n: new Int32(n * 11) }));
  await world.collection(`${namespace}__a`).insertMany(rows);
  await world.collection(`${namespace}__gone`).insertOne({ id: Long.fromNumber(7) });
  return namespace;
}

async function changed(): Promise<string> {
  const namespace = await prepared();
  await syncer(steady)(namespace, AFTER);
  return namespace;
}

/** Runs `change` with a sidecar that ends at each command in turn, then `check` if a change was pending. */
async function atEachPending(
  make: () => Promise<string>,
  change: (engine: Engine, namespace: string) => Promise<unknown>,
  check: (namespace: string) => Promise<boolean>,
): Promise<number> {
  let places = 0;
  for (let commands = 0; ; commands += 1) {
    const namespace = await make();
    if (!(await world.crashes(commands, (engine) => change(engine, namespace)))) return places;
    if (await check(namespace)) places += 1;
  }
}

describe('a change that an older build has stored', { timeout: TIMEOUT_MS }, () => {
  it('is finished wherever that build ended', async () => {
    const whole = await changed();
    const expected = await world.dump(whole);
    const places = await atEachPending(
      prepared,
      (engine, namespace) => syncer(engine)(namespace, AFTER),
      async (namespace) => {
        if (!(await grownOld(namespace, 'sync', await reservedIds()))) return false;
        await syncer(steady)(namespace, AFTER);
        expect(await world.dump(namespace)).toEqual(expected);
        return true;
      },
    );
    expect(places).toBeGreaterThan(8);
  });

  it.each(['column', 'table'] as const)('puts a %s back wherever that build ended', async (kind) => {
    const whole = await changed();
    for (const each of [kind, kind === 'column' ? 'table' : 'column'] as const) {
      await steady.schemas.restoreQuarantine((await keptIds(whole))[each], NOW, within(10_000));
    }
    const expected = await world.dump(whole);
    let ids: KeptIds = { column: 0, table: 0 };
    const places = await atEachPending(
      changed,
      async (engine, namespace) => {
        ids = await keptIds(namespace);
        await engine.schemas.restoreQuarantine(ids[kind], NOW, within(10_000));
      },
      async (namespace) => {
        if (!(await grownOld(namespace, kind, ids))) return false;
        // The restoration of the other object finishes the older one first.
        await steady.schemas.restoreQuarantine(kind === 'column' ? ids.table : ids.column, NOW, within(10_000));
        await syncer(steady)(namespace, RESTORED);
        expect(await world.dump(namespace)).toEqual(expected);
        return true;
      },
    );
    expect(places).toBeGreaterThan(3);
  });
});
