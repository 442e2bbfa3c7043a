import { Decimal128, type Document, Int32, Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { type Declared, MongoWorld, NOW, syncer, within } from './schema-world.ts';

/** Many places, each with a database to make ready. */
const TIMEOUT_MS = 120_000;

/**
 * A sidecar that crashes before any of its commands in a schema change: a fresh one brings the database to where it
 * would be without the crash, and nothing is lost or left over, whatever its next sync declares.
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

interface Change {
  readonly before: Declared;
  readonly after: Declared;
  /** Rows of the tables before the change. */
  readonly rows: Readonly<Record<string, readonly Document[]>>;
}

const ID = { name: 'id', type: 'int64' };
const keyed = (name: string, ...columns: object[]) => ({ name, primaryKey: ['id'], columns: [ID, ...columns] });
const counted = { ...ID, autoIncrement: true };

const CHANGES: Readonly<Record<string, Change>> = {
  'new tables': {
    before: [],
    after: [keyed('a', { name: 's', type: 'string', unique: true, nullable: true }), { name: 'b', columns: [ID] }],
    rows: {},
  },
  'renames and conversions': {
    before: [
      {
        ...keyed('a', { name: 'c', type: 'int32' }, { name: 'd', type: 'decimal', scale: 0 }),
        indexes: [{ name: 'by_c', columns: ['c'], unique: true }],
      },
    ],
    after: [
      {
        name: 'b',
        renamedFrom: 'a',
        primaryKey: ['key'],
        columns: [
          { ...ID, name: 'key', renamedFrom: 'id' },
          { name: 'e', renamedFrom: 'c', type: 'decimal' },
          { name: 'd', type: 'int64', nullable: true },
          { name: 'f', type: 'uuid', default: 'random' },
          { name: 'g', type: 'string', default: 'new', nullable: true },
        ],
        indexes: [{ name: 'by_e', columns: ['e', 'd'], unique: true }],
      },
    ],
    rows: {
      a: [1, 2, 3].map((n) => ({ id: Long.fromNumber(n), c: new Int32(n), d: Decimal128.fromString(`${n}00`) })),
    },
  },
  'what goes into quarantine': {
    before: [
      keyed('a', { name: 'x', type: 'string', unique: true, nullable: true }),
      { name: 'gone', columns: [counted], primaryKey: ['id'] },
    ],
    after: [{ ...keyed('b'), renamedFrom: 'a' }],
    rows: {
      a: [{ id: Long.fromNumber(1), x: 'one' }, { id: Long.fromNumber(2) }, { id: Long.fromNumber(3), x: 'three' }],
      gone: [{ id: Long.fromNumber(7) }],
    },
  },
  'a key comes': {
    before: [{ name: 'a', columns: [{ name: 'n', type: 'int32' }] }],
    after: [{ name: 'a', primaryKey: ['id'], columns: [{ name: 'n', type: 'int32' }, counted] }],
    rows: { a: [3, 1, 2].map((n) => ({ n: new Int32(n), _n: Long.fromNumber(n) })) },
  },
  'a key goes': {
    before: [keyed('a', { name: 'n', type: 'int32' })],
    after: [
      {
        name: 'a',
        columns: [
          { ...ID, nullable: true },
          { name: 'n', type: 'int32' },
        ],
      },
    ],
    rows: { a: [3, 1, 2].map((n) => ({ id: Long.fromNumber(n), n: new Int32(n) })) },
  },
};

let count = 0;

async function prepared({ before, rows }: Change): Promise<string> {
  const namespace = `n${count++}`;
  await syncer(steady)(namespace, before);
  for (const [table, documents] of Object.entries(rows)) {
    await world.collection(`${namespace}__${table}`).insertMany(documents.map((document) => ({ ...document })));
  }
  return namespace;
}

/** For every place of a crash, until the work is done before it. Gives the count of places. */
async function atEveryCommand(check: (commands: number) => Promise<boolean>): Promise<number> {
  for (let commands = 0; ; commands += 1) if (!(await check(commands))) return commands;
}

describe.each(Object.entries(CHANGES))('%s', { timeout: TIMEOUT_MS }, (_name, change) => {
  it('come about, or have not begun, whenever the sidecar crashes', async () => {
    const untouched = await prepared(change);
    const there = await prepared(change);
    const back = await prepared(change);
    await syncer(steady)(there, change.after);
    await syncer(steady)(back, change.after);
    await syncer(steady)(back, change.before);
    const dumps = {
      untouched: await world.dump(untouched),
      there: await world.dump(there),
      back: await world.dump(back),
    };
    const seen = new Set<string>();
    const places = await atEveryCommand(async (commands) => {
      const namespace = await prepared(change);
      const isCut = await world.crashes(commands, (engine) => syncer(engine)(namespace, change.after));
      // Now and then the sidecar that finishes the change crashes as well.
      if (commands % 3 === 0) await world.crashes(commands / 3, (engine) => syncer(engine)(namespace, change.after));
      // A sync finishes what was begun, whatever it declares by itself.
      const goesBack = commands % 2 === 0;
      await syncer(steady)(namespace, goesBack ? change.before : change.after);
      const dump = await world.dump(namespace);
      const isUntouched = goesBack && JSON.stringify(dump) === JSON.stringify(dumps.untouched);
      if (!isUntouched) expect(dump).toEqual(goesBack ? dumps.back : dumps.there);
      seen.add(isUntouched ? 'untouched' : goesBack ? 'back' : 'there');
      return isCut;
    });
    expect(places).toBeGreaterThan(8);
    expect(seen.size).toBe(3);
  });
});

describe('out of quarantine', { timeout: TIMEOUT_MS }, () => {
  const declared = [
    keyed('a', { name: 'x', type: 'string', unique: true, nullable: true }),
    { name: 'b', primaryKey: ['id'], columns: [counted], indexes: [] },
  ];
  const left = [keyed('a')];

  /** Column x of a, and table b, are in quarantine; one row of a came later. */
  async function kept() {
    const rows = { a: [{ id: Long.fromNumber(1), x: 'one' }], b: [{ id: Long.fromNumber(7) }] };
    const namespace = await prepared({ before: declared, after: left, rows });
    await syncer(steady)(namespace, left);
    await world.collection(`${namespace}__a`).insertOne({ id: Long.fromNumber(2) });
    const objects = await steady.schemas.listQuarantine(namespace, within(5000));
    const idOf = (kind: string) => Number(objects.find((object) => object.kind === kind)?.id);
    return { namespace, column: idOf('column'), table: idOf('table') };
  }

  it.each([
    { kind: 'column', after: [declared[0]] },
    { kind: 'table', after: [left[0], declared[1]] },
  ] as const)('a $kind comes back whenever the sidecar crashes', async ({ kind, after }) => {
    const whole = await kept();
    await steady.schemas.restoreQuarantine(whole[kind], NOW, within(10_000));
    const expected = await world.dump(whole.namespace);
    const places = await atEveryCommand(async (commands) => {
      const { namespace, [kind]: id } = await kept();
      const isCut = await world.crashes(commands, (engine) =>
        engine.schemas.restoreQuarantine(id, NOW, within(10_000)),
      );
      const isListed = (await steady.schemas.listQuarantine(namespace, within(5000))).some(
        (object) => object.id === id,
      );
      // Its owner tries again where it is still listed; else the next sync finds the rest of the work.
      if (isListed)
        expect(await steady.schemas.restoreQuarantine(id, NOW, within(10_000))).toMatchObject({ id, note: null });
      await syncer(steady)(namespace, after as Declared);
      expect(await world.dump(namespace)).toEqual(expected);
      return isCut;
    });
    expect(places).toBeGreaterThan(8);
  });

  it('what is purged leaves nothing, whenever the sidecar crashes', async () => {
    const more = [...left, { name: 'c', columns: [ID] }];
    const whole = await kept();
    await steady.schemas.purgeQuarantine(whole.column, within(5000));
    await syncer(steady)(whole.namespace, more);
    const expected = await world.dump(whole.namespace);
    await atEveryCommand(async (commands) => {
      const { namespace, column } = await kept();
      const isCut = await world.crashes(commands, (engine) => engine.schemas.purgeQuarantine(column, within(5000)));
      const isListed = (await steady.schemas.listQuarantine(namespace, within(5000))).some(({ id }) => id === column);
      if (isListed) await steady.schemas.purgeQuarantine(column, within(5000));
      await syncer(steady)(namespace, more);
      expect(await world.dump(namespace)).toEqual(expected);
      return isCut;
    });
  });
});
