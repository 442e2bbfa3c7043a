import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { keyOf, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { PATIENT } from './data-world.ts';
import { CHARACTERS, NAMES, type PartsWorld, PHONE, partsWorld, table } from './parts-world.ts';

let database: TestDatabase;
let folder: string;
let sidecar: TestSidecar;
/** A second program on the same database. */
let beside: Engine;

const config = { ...PATIENT, keys: [keyOf('local'), { ...keyOf('plain'), operations: ['schema.sync', 'find'] }] };

async function start(): Promise<void> {
  sidecar = await startSidecar({ database, folder, config, isSpread: true });
}

beforeAll(async () => {
  database = await newDatabase();
  folder = testFolder();
  await start();
  const { database: settings } = loadConfig(sidecar.configFile, {});
  beside = await openEngine({ ...settings, poolSize: 2 }, { log: () => {}, now: Date.now });
});

afterAll(async () => {
  await beside.close();
  await sidecar.stop();
  await database.drop();
});

interface Refusal {
  readonly operation: 'schema.sync' | 'schema.extend';
  readonly declared: object;
  readonly code: string;
  /** Stands in the message. */
  readonly names: string;
}

const sync = (...tables: object[]) => ({ operation: 'schema.sync', declared: { schema: { tables } } }) as const;
const extend = (part: string, ...tables: object[]) =>
  ({ operation: 'schema.extend', declared: { part, schema: { tables } } }) as const;
const added = (...columns: object[]) => ({ name: 'characters', columns });
const required = { name: 'level', type: 'int32' };
const stranger = { ...PHONE, indexes: [{ name: 'by_phone', columns: ['id'] }], columns: [] };
const unsupported = (names: string) => ({ code: 'unsupported_change', names });
const invalid = (names: string) => ({ code: 'invalid_schema', names });

/** Beside `CHARACTERS` of the main part, `PHONE` and `calls` of part phone, and `calls.note` of part log. */
const REFUSALS: [string, Refusal][] = [
  [
    'a column of another part',
    { ...extend('x', added(PHONE.columns[0] as object)), ...unsupported('characters.phone') },
  ],
  ['a column of the main part', { ...extend('x', added({ ...NAMES })), ...unsupported('characters.name') }],
  ['an index of another part', { ...extend('x', stranger), ...unsupported('characters.by_phone') }],
  ['a table of another part', { ...extend('x', table('calls', 'id')), ...unsupported('calls.id') }],
  ['a key on a table of others', { ...extend('x', { ...table('calls', 'other') }), ...invalid('calls.primaryKey') }],
  ['a required column on a table of others', { ...extend('x', added(required)), ...invalid('characters.level') }],
  [
    'an index that no engine carries, with the column of another part',
    {
      ...extend('x', {
        ...added({ name: 'long', type: 'string', length: 640, nullable: true }),
        indexes: [{ name: 'long', columns: ['long', 'name'] }],
      }),
      ...invalid('table characters.indexes'),
    },
  ],
  ['a table that another part extends, given up', { ...extend('phone', PHONE), ...unsupported('part log extends it') }],
  ['its main table given up', { ...sync(), ...unsupported('part log extends it') }],
  [
    "a sync with a part's column",
    { ...sync(table('characters', 'id', { ...NAMES, name: 'phone' })), ...unsupported('characters.phone') },
  ],
  [
    "a sync without a column of a part's index",
    { ...sync(table('characters', 'id')), ...unsupported('characters.name') },
  ],
  ["a sync with a part's table", { ...sync(CHARACTERS, table('calls', 'id')), ...unsupported('table calls') }],
  ['the name of the main part', { ...extend('main', table('x', 'id')), code: 'invalid_request', names: 'part' }],
  ['a name that is none', { ...extend('My-Part', table('x', 'id')), code: 'invalid_identifier', names: 'part' }],
];

const world = (): PartsWorld => partsWorld(() => sidecar);

describe('parts', () => {
  it('stand beside the main part and each other, and each is described alone', async () => {
    const game = world();
    await game.sync(CHARACTERS);
    const main = await game.describe();
    const phone = await game.extend('phone', PHONE, table('calls', 'id', { name: 'text', type: 'text' }));
    expect(phone).toMatchObject({ changed: true, status: 'applied' });
    expect(phone.plan.map(({ kind, table: name, column, index }) => [kind, name, column ?? index])).toEqual([
      ['addColumn', 'characters', 'phone'],
      ['addIndex', 'characters', 'by_phone'],
      ['createTable', 'calls', undefined],
    ]);
    const whole = await game.describe();
    expect(game.columnsOf(whole, 'characters')).toEqual(['id', 'name', 'phone']);
    expect(game.columnsOf(whole, 'calls')).toEqual(['id', 'text']);
    expect(whole.hash).not.toBe(main.hash);
    expect(await game.describe('main')).toEqual({ ...main, updatedAt: whole.updatedAt });
    const part = await game.describe('phone');
    expect(part.hash).toBe(phone.hash);
    expect(game.columnsOf(part, 'characters')).toEqual(['phone']);
    expect(game.columnsOf(part, 'calls')).toEqual(['id', 'text']);
    const none = { namespace: game.namespace, hash: null, schema: null, updatedAt: null };
    expect(await game.describe('other')).toEqual(none);
  });

  it('are not touched by a sync, and do not touch what the main part has', async () => {
    const game = world();
    await game.sync(CHARACTERS);
    await game.extend('phone', PHONE, table('calls', 'id'));
    await game.insert('characters', { id: 1, name: 'Ann', phone: '555' });
    await game.insert('calls', { id: 7 });
    expect(await game.sync(CHARACTERS)).toMatchObject({ changed: false, status: 'unchanged', plan: [] });
    const wider = table('characters', 'id', { name: 'name', type: 'string', length: 80 }, { ...NAMES, name: 'job' });
    const { plan } = await game.sync(wider, table('jobs', 'id'));
    expect(plan.map(({ kind }) => kind)).toEqual(['alterColumn', 'addColumn', 'createTable']);
    expect(await game.extend('phone', PHONE, table('calls', 'id'))).toMatchObject({ status: 'unchanged' });
    expect((await game.extend('phone', PHONE)).plan).toMatchObject([{ kind: 'quarantineTable', table: 'calls' }]);
    expect(await game.rows('characters')).toEqual([{ id: 1, name: 'Ann', job: null, phone: '555' }]);
  });

  it('may come before what they extend: they wait for it, and hold nobody up', async () => {
    const game = world();
    const extending = [game.extend('phone', PHONE), game.extend('phone', PHONE)];
    const indexing = game.extend('index', {
      name: 'characters',
      columns: [],
      indexes: [{ name: 'n', columns: ['name'] }],
    });
    await game.extend('garage', table('cars', 'id'));
    await game.insert('cars', { id: 1 });
    expect(await game.sync(CHARACTERS)).toMatchObject({ status: 'applied', plan: [{ kind: 'createTable' }] });
    const [first, joined] = await Promise.all(extending);
    expect(first).toMatchObject({ status: 'applied' });
    expect(joined).toEqual(first);
    expect((await indexing).plan).toMatchObject([{ kind: 'addIndex', index: 'n' }]);
    expect(await game.rows('cars')).toEqual([{ id: 1 }]);
    expect(game.columnsOf(await game.describe(), 'characters')).toEqual(['id', 'name', 'phone']);
  });

  it('of many bundles come in any order at once, and stay over restarts until each is given up', async () => {
    const game = world();
    const garage = [table('cars', 'id'), { name: 'characters', columns: [{ ...NAMES, name: 'car' }] }] as const;
    const starts = () => [
      () => game.extend('garage', ...garage),
      () => game.sync(CHARACTERS),
      () => game.extend('phone', PHONE),
    ];
    await Promise.all(starts().map((begin) => begin()));
    await game.insert('characters', { id: 1, name: 'Ann', phone: '555', car: 'T20' });
    await game.insert('cars', { id: 3 });
    await sidecar.stop();
    await start();
    const again = await Promise.all(
      starts()
        .toReversed()
        .map((begin) => begin()),
    );
    expect(again.map(({ status }) => status)).toEqual(['unchanged', 'unchanged', 'unchanged']);
    const { plan } = await game.extend('garage');
    expect(plan.map(({ kind, destructive }) => [kind, destructive])).toEqual([
      ['quarantineColumn', true],
      ['quarantineTable', true],
    ]);
    expect(await game.rows('characters')).toEqual([{ id: 1, name: 'Ann', phone: '555' }]);
    expect(await game.extend('garage')).toMatchObject({ changed: false, status: 'unchanged' });
    expect((await game.describe('garage')).schema).toBeNull();
    expect(await game.extend('phone', PHONE)).toMatchObject({ status: 'unchanged' });
  });

  it.each(REFUSALS)('%s', async (_, { operation, declared, code, names }) => {
    const game = world();
    await game.sync(CHARACTERS);
    await game.extend('phone', PHONE, table('calls', 'id'));
    const byName = { name: 'by_name', columns: ['name'] };
    await game.extend(
      'log',
      { name: 'calls', columns: [{ ...NAMES, name: 'note' }] },
      { ...added(), indexes: [byName] },
    );
    const before = await game.describe();
    for (const dryRun of [true, false]) {
      const answer = await game.call(operation, { ...declared, dryRun });
      expect(answer).toMatchObject({ code, message: expect.stringContaining(names) });
    }
    expect(await game.describe()).toEqual(before);
  });

  it('plan in a dry run what they would change themselves, and change nothing', async () => {
    const game = world();
    await game.sync(CHARACTERS);
    await game.extend('phone', PHONE);
    const before = await game.describe();
    const { result } = await game.call('schema.extend', { part: 'phone', schema: { tables: [] }, dryRun: true });
    expect(result).toMatchObject({ status: 'planned', changed: true, dryRun: true });
    expect(result.plan).toMatchObject([{ kind: 'dropIndex' }, { kind: 'quarantineColumn', column: 'phone' }]);
    expect(await game.describe()).toEqual(before);
  });

  it('follow what others rename, and rename their own', async () => {
    const game = world();
    await game.sync(CHARACTERS);
    const byName = { name: 'by_name', columns: ['name', 'phone'] };
    await game.extend('phone', { ...PHONE, indexes: [byName] }, table('calls', 'id'));
    await game.insert('characters', { id: 1, name: 'Ann', phone: '555' });
    const renamed = {
      ...table('people', 'id', { ...NAMES, name: 'full', renamedFrom: 'name' }),
      renamedFrom: 'characters',
    };
    expect((await game.sync(renamed)).plan).toMatchObject([{ kind: 'renameTable' }, { kind: 'renameColumn' }]);
    expect(await game.rows('people')).toEqual([{ id: 1, full: 'Ann', phone: '555' }]);
    const number = { name: 'number', type: 'string', nullable: true, renamedFrom: 'phone' };
    const indexes = [{ name: 'by_name', columns: ['full', 'number'] }];
    const { plan } = await game.extend(
      'phone',
      { name: 'people', columns: [number], indexes },
      { ...table('talks', 'id'), renamedFrom: 'calls' },
    );
    expect(plan).toMatchObject([
      { kind: 'renameColumn', column: 'phone', newName: 'number' },
      { kind: 'renameTable', table: 'calls', newName: 'talks' },
    ]);
    expect(await game.rows('people')).toEqual([{ id: 1, full: 'Ann', number: '555' }]);
    // The name of somebody else's column is not theirs to change: it counts as one that does not exist.
    const thief = { name: 'people', columns: [{ ...NAMES, name: 'mine', nullable: true, renamedFrom: 'full' }] };
    expect((await game.extend('thief', thief)).plan).toMatchObject([{ kind: 'addColumn', column: 'mine' }]);
    expect(await game.rows('people')).toEqual([{ id: 1, full: 'Ann', number: '555', mine: null }]);
  });

  it('derive columns from those of others, and find and keep them whatever the source is called', async () => {
    const game = world();
    const folded = (from: string) => ({ name: 'folded', type: 'string', length: 40, derived: { from, fold: true } });
    const search = (from: string) => ({
      ...added(folded(from)),
      indexes: [{ name: 'by_folded', columns: ['folded'] }],
    });
    const extending = game.extend('search', search('name'));
    await game.sync(CHARACTERS);
    await extending;
    await game.insert('characters', { id: 1, name: 'Änn' });
    const renamed = table('characters', 'id', { ...NAMES, name: 'full', renamedFrom: 'name' });
    expect((await game.sync(renamed)).plan).toMatchObject([{ kind: 'renameColumn' }]);
    const filter = { field: 'folded', op: 'eq', value: 'ANN' };
    expect((await game.call('find', { table: 'characters', filter })).result.rows).toEqual([
      { id: 1, full: 'Änn', folded: 'ann' },
    ]);
    expect(await game.extend('search', search('full'))).toMatchObject({ status: 'unchanged' });
    const { code } = await game.call('schema.sync', { schema: { tables: [table('characters', 'id')] } });
    expect(code).toBe('unsupported_change');
    expect((await game.extend('search')).plan).toMatchObject([{ kind: 'dropIndex' }, { column: 'folded' }]);
    expect(await game.rows('characters')).toEqual([{ id: 1, full: 'Änn' }]);
  });

  it('keep old databases as they are until there is one', async () => {
    const format = () => beside.transfer.readMark('format', { deadline: performance.now() + 20_000 });
    const fresh = await newDatabase();
    const own = await startSidecar({ database: fresh, isSpread: true });
    const engine = await openEngine(loadConfig(own.configFile, {}).database, { log: () => {}, now: Date.now });
    const bounds = { deadline: performance.now() + 60_000 };
    try {
      const game = partsWorld(() => own);
      await game.sync(CHARACTERS);
      expect(await engine.transfer.readMark('format', bounds)).toBe('1');
      await game.extend('phone', PHONE);
      expect(await engine.transfer.readMark('format', bounds)).toBe('2');
      expect(await format()).toBe('2');
    } finally {
      await engine.close();
      await own.stop();
      await fresh.drop();
    }
  });

  it('need a permission of their own', async () => {
    const game = world();
    await game.sync(CHARACTERS);
    const payload = { namespace: game.namespace, part: 'phone', schema: { tables: [PHONE] } };
    expect(await sidecar.clientOf('plain').call('schema.extend', payload)).toMatchObject({
      status: 403,
      code: 'forbidden',
    });
  });
});
