import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { POSTGRES_SCHEMA } from '#engine/postgres/schema/dialect.ts';
import { createSchemaCalls } from '#engine/sql/schema/calls.ts';
import {
  CrashingSessions,
  connect,
  type Declaration,
  type PostgresWorld,
  postgresWorld,
  sync,
  within,
} from './schema-world.ts';

let world: PostgresWorld;
let engine: Engine;

beforeAll(async () => {
  world = await postgresWorld();
  engine = await world.open();
});

afterAll(async () => {
  await world.drop();
});

const ID = { name: 'id', type: 'int64', autoIncrement: true };
const COUNTED = { name: 't', primaryKey: ['id'], columns: [ID, { name: 'n', type: 'int32', nullable: true }] };

async function newId(table: string): Promise<string | undefined> {
  const [id] = await world.column(`INSERT INTO ${table} (n) VALUES (0) RETURNING id`);
  return id;
}

/** Everything that the sidecar has made in the schema of a namespace, with the definition of each. */
async function shape(namespace: string): Promise<string[]> {
  return world.column(
    `SELECT concat_ws(' ', c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       a.attidentity, l.collname, pg_get_indexdef(c.oid))
     FROM pg_class c
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r'
     LEFT JOIN pg_collation l ON l.oid = a.attcollation
     WHERE c.relname LIKE '${namespace}%' ORDER BY 1`,
  );
}

describe('generated ids', () => {
  it('are never given twice, whatever becomes of the table', async () => {
    await sync(engine, 'ids', { tables: [COUNTED] });
    expect(await newId('ids__t')).toBe('1');
    await sync(engine, 'ids', { tables: [{ ...COUNTED, name: 'u', renamedFrom: 't' }] });
    expect(await newId('ids__u')).toBe('2');
    await world.client.query('DELETE FROM ids__u');
    await sync(engine, 'ids', { tables: [COUNTED] }, { removed: 'drop' });
    expect(await newId('ids__t')).toBe('2');
    await sync(engine, 'ids', { tables: [{ ...COUNTED, name: 'u' }] });
    expect(await newId('ids__u')).toBe('3');
    const [kept] = await engine.schemas.listQuarantine('ids', within(5000));
    await engine.schemas.restoreQuarantine(kept?.id ?? 0, Date.now(), within(5000));
    expect(await newId('ids__t')).toBe('3');
  });

  it('end with their type, and go on where it grows', async () => {
    const small = { ...COUNTED, columns: [{ ...ID, type: 'int32' }, COUNTED.columns[1]] };
    await sync(engine, 'width', { tables: [COUNTED] });
    await world.client.query(`SELECT setval(pg_get_serial_sequence('width__t', 'id'), 3000000000)`);
    await sync(engine, 'width', { tables: [small] });
    await expect(newId('width__t')).rejects.toMatchObject({ code: '2200H' });
    await sync(engine, 'width', { tables: [COUNTED] });
    expect(await newId('width__t')).toBe('3000000001');
  });

  it('have a name that no declared table can have', async () => {
    const names = ['t_id_seq', 't_pkey', 't'].map((name) => ({ ...COUNTED, name }));
    await sync(engine, 'seq', { tables: [COUNTED] });
    await sync(engine, 'seq', { tables: names });
    expect(await newId('seq__t_id_seq')).toBe('1');
  });
});

describe('rows that get a number', () => {
  it('get it in the order in which they were read, whatever their columns are called', async () => {
    const key = { name: 'position', type: 'string', length: 9 };
    await sync(engine, 'number', { tables: [{ name: 't', primaryKey: ['position'], columns: [key] }] });
    await world.client.query(`INSERT INTO number__t VALUES ('b'), ('a'), ('B'), ('ä')`);
    await sync(engine, 'number', { tables: [{ name: 't', primaryKey: ['id'], columns: [key, ID] }] });
    expect(await world.column('SELECT position FROM number__t ORDER BY id')).toEqual(['B', 'a', 'b', 'ä']);
  });
});

describe('an index', () => {
  it('goes with renamings as it is, and is made anew where NULL comes in', async () => {
    const table = (name: string, column: object) => ({
      tables: [{ name, columns: [column], indexes: [{ name: 'i', columns: ['a'] }] }],
    });
    const oid = (name: string) => world.column(`SELECT oid FROM pg_class WHERE relname = '${name}'`);
    await sync(engine, 'idx', table('t', { name: 'a', type: 'int32' }));
    const made = await oid('idx__t__i');
    const renamed = table('u', { name: 'a', type: 'int32' });
    await sync(engine, 'idx', { tables: [{ ...renamed.tables[0], renamedFrom: 't' }] });
    expect(await oid('idx__u__i')).toEqual(made);
    await sync(engine, 'idx', table('u', { name: 'a', type: 'int32', nullable: true }));
    const [definition] = await world.column(`SELECT indexdef FROM pg_indexes WHERE indexname = 'idx__u__i'`);
    expect(definition).toContain('(a NULLS FIRST)');
  });

  it('of the owner stays', async () => {
    await sync(engine, 'own', { tables: [COUNTED] });
    await world.client.query('CREATE INDEX mine ON own__t ((n + 1))');
    await sync(engine, 'own', { tables: [{ ...COUNTED, indexes: [{ name: 'i', columns: ['n'] }] }] });
    expect(await world.column(`SELECT indexname FROM pg_indexes WHERE tablename = 'own__t' ORDER BY 1`)).toEqual([
      'mine',
      'own__t__i',
      'own__t__k__key',
    ]);
  });
});

describe('beside other programs', () => {
  it('refuses a table whose name something else has, before anything is changed', async () => {
    await world.client.query('CREATE VIEW beside__taken AS SELECT 1 AS one');
    const tables = [COUNTED, { ...COUNTED, name: 'taken' }];
    for (const dryRun of [true, false]) {
      await expect(sync(engine, 'beside', { tables }, { dryRun })).rejects.toMatchObject({
        code: 'unsupported_change',
        message: expect.stringContaining('something else named beside__taken'),
      });
    }
    expect(await engine.schemas.readSchema('beside', within(5000))).toBeNull();
    expect(await shape('beside__t')).toEqual([expect.stringContaining('beside__taken')]);
  });

  it('restores nothing where something else has its name, and purges what is gone already', async () => {
    await sync(engine, 'back', { tables: [COUNTED] });
    await sync(engine, 'back', { tables: [] });
    const [kept] = await engine.schemas.listQuarantine('back', within(5000));
    const id = kept?.id ?? 0;
    await world.client.query('CREATE TABLE back__t (a int)');
    await expect(engine.schemas.restoreQuarantine(id, Date.now(), within(5000))).rejects.toMatchObject({
      code: 'unsupported_change',
      message: expect.stringContaining('something else named back__t'),
    });
    await world.client.query(`DROP TABLE "_q${id}_back__t"`);
    expect(await engine.schemas.purgeQuarantine(id, within(5000))).toEqual(kept);
    expect(await engine.schemas.listQuarantine('back', within(5000))).toEqual([]);
  });

  it('waits a moment for a transaction, longer than the account lets a statement run', async () => {
    await sync(engine, 'brief', { tables: [COUNTED] });
    const other = await connect(world.url);
    await other.query('BEGIN');
    await other.query('SELECT * FROM brief__t');
    const synced = sync(engine, 'brief', { tables: [{ ...COUNTED, columns: [ID] }] });
    await waitsForLock(world);
    await other.query('SELECT pg_sleep(0.6)');
    await other.query('COMMIT');
    await other.end();
    expect((await synced)?.revision).toBe(2);
  });

  it('gives up on a long one, and has changed nothing', async () => {
    await sync(engine, 'long', { tables: [COUNTED] });
    const before = await shape('long');
    const other = await connect(world.url);
    await other.query('BEGIN');
    await other.query('SELECT * FROM long__t');
    const startedAt = performance.now();
    await expect(sync(engine, 'long', { tables: [] })).rejects.toMatchObject({ code: 'conflict_retry' });
    expect(performance.now() - startedAt).toBeLessThan(4000);
    expect(await shape('long')).toEqual(before);
    await other.end();
    expect((await sync(engine, 'long', { tables: [] }))?.revision).toBe(2);
  });
});

async function waitsForLock({ column }: PostgresWorld): Promise<void> {
  await expect
    .poll(() =>
      column(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
    )
    .not.toEqual([]);
}

describe('what others have made from a table', () => {
  it('is told, and stays as it is', async () => {
    await sync(engine, 'seen', { tables: [COUNTED] });
    await world.client.query('CREATE VIEW looks AS SELECT id, n FROM seen__t');
    const before = await shape('seen');
    for (const n of [[], [{ name: 'n', type: 'int64', nullable: true }]]) {
      const changed = sync(engine, 'seen', { tables: [{ ...COUNTED, columns: [ID, ...n] }] }, { removed: 'drop' });
      await expect(changed).rejects.toMatchObject({ code: 'unsupported_change' });
    }
    expect(await shape('seen')).toEqual(before);
    expect(await world.column('SELECT n FROM looks')).toEqual([]);
  });
});

describe('a table whose columns came and went', () => {
  it('takes new ones beyond what PostgreSQL counts', async () => {
    const indexes = [{ name: 'i', columns: ['n'], unique: true }];
    await sync(engine, 'worn', { tables: [{ ...COUNTED, indexes }] });
    await world.client.query(`INSERT INTO worn__t (n) VALUES (7), (8); DELETE FROM worn__t WHERE n = 8`);
    await world.client.query(
      `DO $$ BEGIN
         FOR i IN 1..7 LOOP
           EXECUTE (SELECT 'ALTER TABLE worn__t ' || string_agg('ADD COLUMN x' || n || ' int', ', ')
             FROM generate_series(1, 228) n);
           EXECUTE (SELECT 'ALTER TABLE worn__t ' || string_agg('DROP COLUMN x' || n, ', ')
             FROM generate_series(1, 228) n);
         END LOOP;
       END $$`,
    );
    const before = await shape('worn');
    const added = ['m', 'o', 'p'].map((name) => ({ name, type: 'int32', default: 1 }));
    await sync(engine, 'worn', { tables: [{ ...COUNTED, indexes, columns: [...COUNTED.columns, ...added] }] });
    expect(await world.column("SELECT id || ' ' || n || ' ' || m FROM worn__t")).toEqual(['1 7 1']);
    expect(await world.column('INSERT INTO worn__t (n, m, o, p) VALUES (9, 0, 0, 0) RETURNING id')).toEqual(['3']);
    await sync(engine, 'worn', { tables: [{ ...COUNTED, indexes }] });
    expect(await shape('worn')).toEqual(before);
    await expect(world.client.query('INSERT INTO worn__t (n) VALUES (9)')).rejects.toMatchObject({ code: '23505' });
  });
});

describe('a change without steps', () => {
  it('makes those look again who have compiled statements', async () => {
    const stored = await sync(engine, 'same', { tables: [COUNTED] });
    const again = await sync(engine, 'same', { tables: [COUNTED] });
    expect(again).toEqual({ ...stored, revision: 2, updatedAt: again?.updatedAt });
  });
});

describe('two at once', () => {
  it('of one namespace: one comes first, the other is told that it was late', async () => {
    const others = await Promise.all([world.open(), world.open()]);
    const results = await Promise.allSettled(
      others.map((other, position) => sync(other, 'race', { tables: [{ ...COUNTED, name: `t${position}` }] })),
    );
    const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as Error);
    // The second may also have come after the first, and then it is a change of its own.
    expect(failures.map(({ name }) => name).filter((name) => name !== 'StaleSchemaError')).toEqual([]);
    const stored = await engine.schemas.readSchema('race', within(5000));
    expect(stored?.revision).toBe(2 - failures.length);
    expect(stored?.schema.tables).toHaveLength(1);
  });

  it('of different namespaces do not wait for each other', async () => {
    await Promise.all(['one', 'two', 'three'].map((namespace) => sync(engine, namespace, { tables: [COUNTED] })));
    expect(await newId('three__t')).toBe('1');
  });
});

describe('a change that is cut off', () => {
  const before: Declaration = {
    tables: [
      { ...COUNTED, indexes: [{ name: 'i', columns: ['n'] }] },
      { name: 'lines', columns: [{ name: 'n', type: 'string' }] },
      { ...COUNTED, name: 'gone' },
    ],
  };
  const after: Declaration = {
    tables: [
      {
        name: 'people',
        renamedFrom: 't',
        primaryKey: ['id'],
        columns: [
          { ...ID, type: 'int32' },
          { name: 'm', type: 'decimal', default: 5 },
        ],
      },
      { name: 'lines', primaryKey: ['id'], columns: [ID, { name: 'n', type: 'string', length: 70 }] },
      { name: 'more', columns: [{ name: 'data', type: 'json' }] },
    ],
  };

  it('at any statement leaves the old schema or the new one, and the next sync comes to the new one', async () => {
    await prepared('whole');
    const whole = new CrashingSessions(world.url);
    await sync({ schemas: createSchemaCalls(whole, POSTGRES_SCHEMA) }, 'whole', after);
    const old = await prepared('cut');
    const isCommit = (at: number) => at === whole.statements.length - 1;
    for (let at = 1; !isCommit(at); at += 1) {
      const crashing = new CrashingSessions(world.url, { at, isSent: at % 2 === 0 });
      await expect(sync({ schemas: createSchemaCalls(crashing, POSTGRES_SCHEMA) }, 'cut', after)).rejects.toThrow(
        'the process is gone',
      );
      expect(await shape('cut')).toEqual(old);
    }
    for (const isSent of [false, true]) {
      const crashing = new CrashingSessions(world.url, { at: whole.statements.length - 1, isSent });
      await expect(sync({ schemas: createSchemaCalls(crashing, POSTGRES_SCHEMA) }, 'cut', after)).rejects.toThrow(
        'the process is gone',
      );
      expect((await engine.schemas.readSchema('cut', within(5000)))?.revision).toBe(isSent ? 2 : 1);
    }
    expect(await shape('cut')).toEqual((await shape('whole')).map((line) => line.replaceAll('whole__', 'cut__')));
    expect(await world.column('SELECT n FROM cut__lines ORDER BY id')).toEqual(['b', 'a']);
  }, 120_000);

  async function prepared(namespace: string): Promise<string[]> {
    await sync(engine, namespace, before);
    await world.client.query(`INSERT INTO ${namespace}__t (n) VALUES (1), (2)`);
    await world.client.query(`INSERT INTO ${namespace}__lines (n) VALUES ('b'), ('a')`);
    return shape(namespace);
  }
});
