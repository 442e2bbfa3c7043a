import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareSystemTables, purgeExpired } from '#engine/mysql/system-tables.ts';
import { openEngine } from '#engine/open.ts';
import { StaleSchemaError, type TableTarget } from '#engine/rows.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { planSchema } from '#sidecar/schema/plan.ts';
import { CrashingSessions, deathsOf, inParallel, type SchemaWorld, schemaWorld, sync, within } from './schema-world.ts';

let world: SchemaWorld;

beforeAll(async () => {
  world = await schemaWorld();
});

afterAll(async () => {
  await world.drop();
});

const ID = { name: 'id', type: 'int64' };
const NAME = { name: 'name', type: 'string', length: 20, unique: true };
const table = (name: string, ...columns: object[]) => ({ name, primaryKey: ['id'], columns: [ID, ...columns] });
const declared = (...tables: object[]) => ({ tables });

// Together, because most of them wait for a limit of time.
describe.concurrent('somebody else in the way', () => {
  it('is waited for shortly, and nothing has changed then', async () => {
    const calls = world.calls();
    const before = await sync(calls, 'busy', declared(table('t', NAME)));
    await world.sql("INSERT INTO busy__t VALUES (1, 'a')");
    const other = await world.connect();
    await other.query('START TRANSACTION');
    await other.query('SELECT * FROM busy__t');
    const startedAt = performance.now();
    await expect(sync(calls, 'busy', declared(table('t')))).rejects.toMatchObject({ code: 'conflict_retry' });
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    const now = await calls.readSchema('busy', within(5000));
    expect(now).toMatchObject({ hash: before?.hash, updatedAt: before?.updatedAt });
    expect(now?.isUnfinished).toBeUndefined();
    expect(await calls.listQuarantine('busy', within(5000))).toEqual([]);
    await other.end();
    await sync(calls, 'busy', declared(table('t')));
    expect(await calls.listQuarantine('busy', within(5000))).toMatchObject([{ column: 'name', rows: 1 }]);
  });

  it('leaves the stored schema true where it comes half-way, and the next sync goes on', async () => {
    const calls = world.calls();
    await sync(calls, 'half', declared(table('a', NAME), table('b', NAME)));
    await world.sql("INSERT INTO half__a VALUES (1, 'a')");
    await world.sql("INSERT INTO half__b VALUES (1, 'b')");
    const sessions = new CrashingSessions(world.url);
    sessions.before = async (text) => {
      if (text.includes('RENAME TO `half__b`')) throw Object.assign(new Error('Lock wait timeout'), { errno: 1205 });
    };
    const target = declared(table('a'), table('b'), table('c'));
    await expect(sync(world.calls(sessions), 'half', target)).rejects.toMatchObject({ code: 'conflict_retry' });
    const now = await calls.readSchema('half', within(5000));
    expect(now?.isUnfinished).toBeUndefined();
    expect(now?.schema.tables.map(({ name, columns }) => [name, columns.length])).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect(await calls.listQuarantine('half', within(5000))).toMatchObject([{ table: 'a', column: 'name', rows: 1 }]);
    expect(await world.sql('SELECT id, name FROM half__b')).toEqual([{ id: '1', name: 'b' }]);
    const stored = await sync(calls, 'half', target);
    expect(stored?.schema.tables).toHaveLength(3);
    expect(await calls.listQuarantine('half', within(5000))).toHaveLength(2);
  });

  it('is not written over: rows that come between check and change are looked at again', async () => {
    const calls = world.calls();
    const before = await sync(calls, 'late', declared(table('t', { name: 'n', type: 'decimal' })));
    await world.sql('ALTER TABLE late__t ADD COLUMN by_hand INT NULL');
    const sessions = new CrashingSessions(world.url);
    sessions.before = async (text) => {
      if (text.includes('TO `_away_')) await world.sql('INSERT INTO late__t VALUES (1, 1.5, 7)');
    };
    const target = declared(table('t', { name: 'n', type: 'int64' }));
    await expect(sync(world.calls(sessions), 'late', target)).rejects.toMatchObject({ code: 'data_does_not_fit' });
    expect(await calls.readSchema('late', within(5000))).toMatchObject({ hash: before?.hash });
    expect(await world.sql('SELECT n, by_hand FROM late__t')).toEqual([{ n: '1.5000', by_hand: 7 }]);
  });

  it('lets go of its turn where its own time is over first, and says that the end is not known', async () => {
    const calls = world.calls();
    await sync(calls, 'hasty', declared(table('t', NAME)));
    const other = await world.connect();
    await other.query('START TRANSACTION');
    await other.query('SELECT * FROM hasty__t');
    const engine = await openEngine(
      { provider: 'mysql', url: world.url, poolSize: 2, statementTimeoutMs: 4000 },
      { log: () => {}, now: Date.now },
    );
    const from = await engine.schemas.readSchema('hasty', within(5000));
    const { schema: to, renames } = parseSchema(JSON.parse(JSON.stringify(declared())));
    const { steps } = planSchema(from?.schema ?? null, to, renames, 'drop');
    const change = { namespace: 'hasty', from, to, hash: schemaHash(to), steps, dryRun: false, now: Date.now() };
    // Long enough for a busy machine to come to the statement.
    await expect(engine.schemas.applySchema(change, within(2500))).rejects.toMatchObject({
      code: 'database_timeout',
      message: expect.stringContaining('outcome is unknown'),
    });
    await other.end();
    // The engine is still there, with its connections.
    const stored = await sync(calls, 'hasty', declared(table('u')), 'drop');
    expect(stored?.schema.tables.map(({ name }) => name)).toEqual(['u']);
    await engine.close();
  });

  it('changes a namespace alone: a second process is told that one is running', async () => {
    const calls = world.calls();
    await sync(calls, 'turn', declared(table('t')));
    const sessions = new CrashingSessions(world.url);
    let second: Promise<unknown> = Promise.resolve();
    sessions.before = async (text) => {
      if (!text.startsWith('ALTER TABLE')) return;
      second = sync(world.calls(undefined, 'other'), 'turn', declared(table('u'))).catch((error: unknown) => error);
      await second;
    };
    await sync(world.calls(sessions), 'turn', declared(table('t', NAME)));
    expect(await second).toMatchObject({ code: 'sync_in_progress' });
    const stored = await calls.readSchema('turn', within(5000));
    expect(stored?.schema.tables[0]?.columns).toHaveLength(2);
  }, 60_000);

  it('keeps a table that has the name of a new one, and is told so', async () => {
    const calls = world.calls();
    const before = await sync(calls, 'taken', declared(table('t')));
    await world.sql('CREATE TABLE taken__u (a INT)');
    const target = declared({ ...table('u'), renamedFrom: 't' });
    await expect(sync(calls, 'taken', target)).rejects.toMatchObject({ code: 'unsupported_change' });
    await expect(sync(calls, 'taken', declared(table('t'), table('u')))).rejects.toThrow(
      /something else named taken__u/,
    );
    expect(await calls.readSchema('taken', within(5000))).toEqual(before);
  });
});

describe('what was made by hand', () => {
  it('is left alone, and named as what is in the way', async () => {
    const calls = world.calls();
    const before = await sync(calls, 'hand', declared(table('a', NAME), table('t')));
    await world.sql("INSERT INTO hand__a VALUES (1, 'a')");
    await world.sql('CREATE TABLE other (a BIGINT, FOREIGN KEY (a) REFERENCES hand__t (id))');
    const dropping = sync(calls, 'hand', declared(table('a', NAME)), 'drop');
    await expect(dropping).rejects.toMatchObject({
      code: 'unsupported_change',
      message: expect.stringContaining('foreign key'),
    });
    expect(await calls.readSchema('hand', within(5000))).toMatchObject({ hash: before?.hash });
  });
});

describe('calls of another sidecar', () => {
  it('are refused while tables change, then for what was compiled before, and go on', async () => {
    const engine = await openEngine(
      { provider: 'mysql', url: world.url, poolSize: 3, statementTimeoutMs: 4000 },
      { log: () => {}, now: Date.now },
    );
    try {
      await sync(engine.schemas, 'other', declared(table('t')));
      const targetOf = async (): Promise<TableTarget> => {
        const stored = await engine.schemas.readSchema('other', within(4000));
        const [first] = stored?.schema.tables ?? [];
        if (stored === null || first === undefined) throw new Error('other is not declared');
        return { namespace: 'other', revision: stored.revision, table: first };
      };
      const old = await targetOf();
      const insert = (target: TableTarget, id: bigint) =>
        engine.write(target, { op: 'insert', rows: [new Map([['id', id]])] }, null, within(4000));
      await insert(old, 1n);
      const sessions = new CrashingSessions(world.url);
      let asked = false;
      sessions.before = async (text) => {
        if (!text.startsWith('ALTER TABLE') || asked) return;
        asked = true;
        await expect(insert(old, 2n)).rejects.toMatchObject({ code: 'sync_in_progress' });
        await expect(engine.count(old, null, within(4000))).rejects.toMatchObject({ code: 'sync_in_progress' });
        expect(await engine.schemas.readSchema('other', within(1000))).toMatchObject({
          revision: old.revision,
          isUnfinished: true,
        });
      };
      await sync(world.calls(sessions), 'other', declared(table('t', { name: 'n', type: 'int32', default: 3 })));
      expect(asked).toBe(true);
      await expect(insert(old, 2n)).rejects.toBeInstanceOf(StaleSchemaError);
      expect(await engine.count(await targetOf(), null, within(4000))).toBe(1);
      await sync(engine.schemas, 'other', declared(table('t')));
      await insert(await targetOf(), 2n);
    } finally {
      await engine.close();
    }
  });
});

describe('a process that dies', () => {
  const target = declared(table('t'), table('u', { name: 'n', type: 'int32' }));

  it('leaves no first sync behind that nobody finishes', async () => {
    const whole = new CrashingSessions(world.url);
    await sync(world.calls(whole), 'first', target);
    await inParallel(deathsOf(whole), async (at) => {
      const namespace = `first${at}`;
      await expect(sync(world.calls(new CrashingSessions(world.url, at)), namespace, target)).rejects.toThrow();
      const calls = world.calls();
      const found = await calls.readSchema(namespace, within(20_000));
      expect(found === null || (found.schema.tables.length === 2 && found.isUnfinished === undefined)).toBe(true);
      expect(await sync(calls, namespace, target)).toMatchObject({ revision: 1 });
    });
  });

  it('has its change finished by whoever declares what was there before', async () => {
    const calls = world.calls();
    const old = declared(table('t', { ...NAME, nullable: true }));
    const dying = new CrashingSessions(world.url);
    await sync(calls, 'back', old);
    await world.sql("INSERT INTO back__t VALUES (1, 'a')");
    dying.before = (text) =>
      text.startsWith('UPDATE _schemas SET revision = ?') ? Promise.reject(new Error('gone')) : Promise.resolve();
    await expect(sync(world.calls(dying), 'back', target)).rejects.toThrow('gone');
    const stored = await sync(calls, 'back', old);
    expect(stored?.schema.tables.map(({ name }) => name)).toEqual(['t']);
    // The column was made again, so its values are in quarantine and can be restored.
    expect(await calls.listQuarantine('back', within(5000))).toMatchObject([
      { kind: 'column', table: 't', column: 'name', rows: 1 },
      { kind: 'table', table: 'u' },
    ]);
  });

  it.each([
    ['column', declared(table('t'))],
    ['table', declared()],
  ])(
    'puts a %s back from quarantine all the same',
    async (kind, without) => {
      const whole = declared(table('t', { ...NAME, unique: true }));
      const prepare = async (namespace: string): Promise<number> => {
        await sync(world.calls(), namespace, whole);
        await world.sql(`INSERT INTO ${namespace}__t VALUES (1, 'a'), (2, 'b')`);
        await sync(world.calls(), namespace, without);
        const [object] = await world.calls().listQuarantine(namespace, within(5000));
        return object?.id ?? 0;
      };
      const sessions = new CrashingSessions(world.url);
      await world.calls(sessions).restoreQuarantine(await prepare(`r${kind}`), Date.now(), within(20_000));
      await inParallel(deathsOf(sessions), async (at) => {
        const namespace = `r${kind}${at}`;
        const id = await prepare(namespace);
        const dying = world.calls(new CrashingSessions(world.url, at));
        // Dying while it gives back its turn it has done all.
        await dying.restoreQuarantine(id, Date.now(), within(20_000)).catch(() => {});
        const calls = world.calls();
        await calls.readSchema(namespace, within(20_000));
        const isLeft = (await calls.listQuarantine(namespace, within(5000))).length > 0;
        if (isLeft) await calls.restoreQuarantine(id, Date.now(), within(20_000));
        expect((await sync(calls, namespace, whole))?.revision).toBe(3);
        expect(await world.sql(`SELECT id, name FROM ${namespace}__t ORDER BY id`)).toEqual([
          { id: '1', name: 'a' },
          { id: '2', name: 'b' },
        ]);
        await expect(world.sql(`INSERT INTO ${namespace}__t VALUES (3, 'b')`)).rejects.toThrow(/Duplicate/);
        expect(await calls.listQuarantine(namespace, within(5000))).toEqual([]);
      });
    },
    60_000,
  );
});

describe('system tables', () => {
  const prepare = (url: string) =>
    new CrashingSessions(url).write(within(10_000), (session) => prepareSystemTables(session, 'mariadb'));

  it('are there once, whoever comes how often', async () => {
    await Promise.all([prepare(world.url), prepare(world.url), prepare(world.url)]);
    const tables = await world.sql(`SELECT engine, table_collation AS collation, row_format AS format
      FROM information_schema.tables WHERE table_schema = DATABASE() AND table_comment = 'sidecar system table'`);
    expect(tables).toHaveLength(10);
    for (const row of tables)
      expect(row).toEqual({ engine: 'InnoDB', collation: 'utf8mb4_nopad_bin', format: 'Dynamic' });
  });

  it('forget what has expired, however much it is, and nothing else', async () => {
    const expiries = Array.from({ length: 2500 }, (_, i) => `('k', 'n', '${i}', '', '', ${i < 2400 ? 1000 : 1001})`);
    await world.sql(`INSERT INTO _idempotency VALUES ${expiries.join()}`);
    await new CrashingSessions(world.url).write(within(10_000), (session) => purgeExpired(session, 1000));
    expect(await world.sql('SELECT count(*) AS n, min(expires_at) AS first FROM _idempotency')).toEqual([
      { n: '100', first: '1001' },
    ]);
  });

  it('of a newer format are refused, and left alone', async () => {
    const own = await schemaWorld();
    try {
      await own.sql("UPDATE _meta SET value = '3' WHERE name = 'format'");
      await own.sql('DROP TABLE _locks');
      await expect(prepare(own.url)).rejects.toThrow(/format version 3, and this program knows 2/);
      expect(await own.sql("SHOW TABLES LIKE '\\_locks'")).toEqual([]);
    } finally {
      await own.drop();
    }
  });

  it('of another program are refused, and left alone', async () => {
    const own = await schemaWorld();
    try {
      await own.sql('DROP TABLE _meta, _generators');
      await own.sql('CREATE TABLE _generators (a INT)');
      await own.sql('CREATE TABLE players (a INT)');
      await expect(prepare(own.url)).rejects.toThrow(/_generators of another program/);
      expect(await own.sql("SHOW TABLES LIKE '\\_meta'")).toEqual([]);
      await own.sql('DROP TABLE _generators');
      await prepare(own.url);
      expect(await own.sql('SELECT * FROM players')).toEqual([]);
    } finally {
      await own.drop();
    }
  });
});
