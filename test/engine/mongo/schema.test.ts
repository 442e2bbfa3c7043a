import { Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { type FindQuery, StaleSchemaError } from '#engine/rows.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { Cutter } from './cutter.ts';
import { MongoWorld, NOW, syncer, within } from './schema-world.ts';

let world: MongoWorld;
let engine: Engine;

beforeAll(async () => {
  world = await MongoWorld.open();
  engine = await world.engine();
});

afterAll(async () => {
  await engine.close();
  await world.close();
});

const ID = { name: 'id', type: 'int64' };
const notes = (...columns: object[]) => [{ name: 'notes', primaryKey: ['id'], columns: [ID, ...columns] }];
const ALL: FindQuery = { filter: null, fields: ['id'], sort: [], limit: 1000, offset: 0, maxBytes: 1e7 };

/** Repeats what was compiled for a schema that is gone, as the data calls do. */
async function onNotes<T>(
  on: Engine,
  namespace: string,
  work: (target: Awaited<ReturnType<SchemaCatalog['table']>>) => Promise<T>,
): Promise<T> {
  const catalog = new SchemaCatalog(on);
  for (;;) {
    try {
      return await work(await catalog.table(namespace, 'notes', within(5000)));
    } catch (error) {
      if (!(error instanceof StaleSchemaError)) throw error;
      catalog.forget(namespace);
    }
  }
}

/** Leaves a change of `namespace` cut off in its middle: column `text` on its way to be `body`. */
async function cutOff(namespace: string, instance = 'me'): Promise<void> {
  await syncer(engine)(namespace, notes({ name: 'text', type: 'string' }));
  await world.collection(`${namespace}__notes`).insertOne({ id: Long.fromNumber(1), text: 'hello' });
  for (let commands = 8; ; commands += 1) {
    const cutter = await Cutter.open(world.url);
    const crashing = await world.engine(cutter.url, instance);
    const cut = cutter.cutAfter(commands);
    const sync = syncer(crashing)(namespace, notes({ name: 'body', type: 'string', renamedFrom: 'text' }));
    sync.catch(() => {});
    await cut;
    await cutter.close();
    crashing.close().catch(() => {});
    const stored = await world.collection('_schemas').findOne({ _id: namespace as never });
    if (stored?.pending !== undefined) return;
  }
}

describe('a change that was cut off', () => {
  it('is known, holds rows back while its sidecar may come again, and is finished when it does not', async () => {
    await cutOff('left', 'gone');
    expect(await engine.schemas.readSchema('left', within(5000))).toMatchObject({ isUnfinished: true });
    const find = (on: Engine) =>
      onNotes(on, 'left', async (target) => on.find(target, { ...ALL, fields: [...columns(target)] }, within(20_000)));
    await expect(find(engine)).rejects.toMatchObject({ code: 'sync_in_progress' });
    expect(await engine.schemas.readSchema('left', within(5000))).toMatchObject({ isUnfinished: true });
    await vi.waitFor(async () => expect((await find(engine)).rows).toBe('[{"id":1,"body":"hello"}]'), 30_000);
    expect(await engine.schemas.readSchema('left', within(5000))).not.toHaveProperty('isUnfinished');
  });

  it('refuses a dry run, which finishes nothing', async () => {
    await cutOff('dry');
    const before = await world.dump('dry');
    const dryRun = syncer(engine)('dry', notes({ name: 'other', type: 'string', nullable: true }), true);
    await expect(dryRun).rejects.toMatchObject({ code: 'sync_in_progress' });
    expect(await world.dump('dry')).toEqual(before);
  });
});

function columns(target: { readonly table: { readonly columns: readonly { readonly name: string }[] } }) {
  return target.table.columns.map(({ name }) => name);
}

describe('two sidecars', () => {
  it('never write for a schema that the other has changed', async () => {
    const other = await world.engine();
    await syncer(engine)('two', notes({ name: 'a', type: 'int32' }));
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      for (let id = 0n; !isOver; id += 1n) {
        await onNotes(other, 'two', (target) => {
          const row = new Map<string, number | bigint>([
            ['id', id],
            [String(columns(target)[1]), 1],
          ]);
          return other.write(target, { op: 'insert', rows: [row] }, null, within(10_000));
        });
        written += 1;
      }
    })();
    let name = 'a';
    for (const next of ['b', 'a', 'b', 'c']) {
      const enough = written + 3;
      await vi.waitFor(() => expect(written).toBeGreaterThan(enough), 30_000);
      await syncer(engine)('two', notes({ name: next, type: 'int32', renamedFrom: name }));
      name = next;
    }
    isOver = true;
    await writing;
    const found = await world.collection('two__notes').find().toArray();
    expect(found).toHaveLength(written);
    for (const { _id, ...row } of found) expect(row).toEqual({ id: expect.anything(), c: 1 });
    await other.close();
  });

  it('wait for one that does not answer only as long as its operations may last', async () => {
    await syncer(engine)('mute', notes());
    const until = new Date(Date.now() + 60_000);
    await world.collection('_sidecars').insertOne({ _id: 'mute' as never, until, callMs: 700 });
    const begun = performance.now();
    await syncer(engine)('mute', notes({ name: 'a', type: 'int32', nullable: true }));
    const took = performance.now() - begun;
    expect(took).toBeGreaterThan(1700);
    // A sidecar that ended without a word is forgotten when its registration has not changed for long, whatever it says.
    for (let isThere = true; isThere; ) {
      await syncer(engine)('mute', notes());
      await syncer(engine)('mute', notes({ name: 'a', type: 'int32', nullable: true }));
      isThere = (await world.collection('_sidecars').countDocuments({ _id: 'mute' as never })) > 0;
    }
  }, 60_000);

  it('that change one namespace at once without a lock end with the one or the other', async () => {
    const other = await world.engine(world.url, 'other');
    await syncer(engine)('race', notes({ name: 'n', type: 'int32' }));
    const rows = Array.from({ length: 300 }, (_, n) => ({ id: Long.fromNumber(n), n }));
    await world.collection('race__notes').insertMany(rows);
    const stored = await engine.schemas.readSchema('race', within(5000));
    if (stored === null) throw new Error('not stored');
    const [table] = stored.schema.tables;
    const [id, n] = table?.columns ?? [];
    if (table === undefined || id === undefined || n === undefined) throw new Error('no columns');
    const to = { ...n, type: 'int64' } as const;
    const schema = { tables: [{ ...table, columns: [id, to] }] };
    const steps = [{ kind: 'alterColumn', table: 'notes', from: n, to }] as const;
    const change = { namespace: 'race', from: stored, to: schema, hash: '', steps, dryRun: false, now: NOW };
    const answers = await Promise.allSettled(
      [engine, other].map((on) => on.schemas.applySchema(change, within(20_000))),
    );
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue;
      expect(answer.reason instanceof StaleSchemaError || answer.reason.code === 'conflict_retry').toBe(true);
    }
    const { isUnfinished, revision } = (await engine.schemas.readSchema('race', within(5000))) ?? {};
    expect({ isUnfinished, revision }).toEqual({ isUnfinished: undefined, revision: stored.revision + 1 });
    const kept = await world.collection('race__notes').find().toArray();
    expect(kept.map((row) => `${row.n} ${row.n._bsontype}`)).toEqual(rows.map((row) => `${row.n} Long`));
    await other.close();
  });
});

describe('the database', () => {
  it('of a newer format is refused and not touched', async () => {
    const newer = await MongoWorld.open();
    try {
      await newer.collection('_meta').insertOne({ _id: 'format' as never, value: 3 });
      await expect(newer.engine()).rejects.toThrow(/format version 3, and this program knows 2/);
      const names = (await newer.client.db().listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
      expect(names).toEqual(['_meta']);
    } finally {
      await newer.close();
    }
  });

  it('of another program is refused where a name is taken, and shared where not', async () => {
    const shared = await MongoWorld.open();
    try {
      await shared.collection('shop').insertOne({ mine: true });
      await shared.collection('_locks').insertOne({ mine: true });
      await expect(shared.engine()).rejects.toThrow(/has a collection _locks of another program/);
      await shared.collection('_locks').rename('locks');
      const both = await Promise.all([shared.engine(), shared.engine()]);
      expect(await syncer(both[0])('own', notes())).toMatchObject({ status: 'applied' });
      for (const each of both) await each.close();
      expect(await shared.collection('shop').countDocuments()).toBe(1);
    } finally {
      await shared.close();
    }
  });

  it('keeps documents that no schema has put there', async () => {
    await world.collection('own__notes').insertOne({ mine: true });
    const sync = syncer(engine)('own', notes());
    await expect(sync).rejects.toMatchObject({
      code: 'data_does_not_fit',
      message: expect.stringContaining('own.notes'),
    });
    expect(await world.collection('own__notes').countDocuments()).toBe(1);
    await world.collection('own__notes').deleteMany({});
    expect(await syncer(engine)('own', notes())).toMatchObject({ status: 'applied' });
  });

  // FerretDB may take a name for the collection that had it before a rename, and would drop that one.
  it('is asked to drop no name from which a collection was renamed away', async () => {
    const cutter = await Cutter.open(world.url);
    const seen = await world.engine(cutter.url);
    const table = (name: string, more: object = {}) => ({ name, primaryKey: ['id'], columns: [ID], ...more });
    const rowIn = (name: string, id: number) => world.collection(`moved__${name}`).insertOne({ id });
    const sync = syncer(seen, 'drop');
    await sync('moved', [table('a'), table('kept')]);
    await rowIn('a', 1);
    await rowIn('kept', 2);
    await syncer(seen)('moved', [table('b', { renamedFrom: 'a' })]);
    await sync('moved', [table('b'), table('a')]);
    await rowIn('a', 3);
    const [kept] = await seen.schemas.listQuarantine('moved', within(5000));
    // Empty, of nobody: it has to make room.
    await world.collection('moved__kept').createIndex({ mine: 1 });
    await seen.schemas.restoreQuarantine(Number(kept?.id), NOW, within(10_000));
    await sync('moved', [table('b'), table('kept')]);
    const named = (command: string) => cutter.passed.filter(({ name }) => name === command);
    const left = new Set(named('renameCollection').map(({ collection }) => collection.replace(/^[^.]*\./, '')));
    expect([...left].map((name) => name.replace(/\d+/, 'ID')).sort()).toEqual([
      '_qID_moved__kept',
      'moved__a',
      'moved__kept',
    ]);
    expect(
      named('drop')
        .map(({ collection }) => collection)
        .filter((name) => left.has(name)),
    ).toEqual([]);
    const rows = async (name: string) => (await world.collection(name).find().toArray()).map(({ id }) => Number(id));
    expect([await rows('moved__b'), await rows('moved__kept')]).toEqual([[1], [2]]);
    const names = (await world.client.db().listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    expect(names.filter((name) => name.includes('moved__')).sort()).toEqual(['moved__b', 'moved__kept']);
    await seen.close();
    await cutter.close();
  });

  it('takes as many indexes as a table may have', async () => {
    const many = Array.from({ length: 62 }, (_, n) => ({ name: `c${n}`, type: 'int32', unique: true, nullable: true }));
    expect(await syncer(engine)('wide', notes(...many))).toMatchObject({ status: 'applied' });
    expect(await world.collection('wide__notes').indexes()).toHaveLength(64);
  });
});
