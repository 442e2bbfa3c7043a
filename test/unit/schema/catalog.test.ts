import { describe, expect, it } from 'vitest';
import type { StoredSchema } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';

const bounds = { deadline: Number.POSITIVE_INFINITY };

function stored(revision: number): StoredSchema {
  const schema = { tables: [{ name: 't', columns: [], indexes: [] }] };
  return { namespace: 'game', revision, hash: '', schema, updatedAt: '' };
}

const transfer = { readMark: async () => null };

/** Answers when the test says so. */
function slowEngine() {
  const reads: ((answer: StoredSchema | null) => void)[] = [];
  const readSchema = () => new Promise<StoredSchema | null>((resolve) => reads.push(resolve));
  return { reads, schemas: { readSchema }, transfer };
}

describe('SchemaCatalog', () => {
  it('reads once, also for callers at the same time, and gives the same table each time', async () => {
    const engine = slowEngine();
    const catalog = new SchemaCatalog(engine);
    const calls = [catalog.table('game', 't', bounds), catalog.table('game', 't', bounds)];
    engine.reads[0]?.(stored(1));
    const [first, second] = await Promise.all(calls);
    expect(first).toMatchObject({ namespace: 'game', revision: 1, table: { name: 't' } });
    expect(second).toBe(first);
    expect(await catalog.table('game', 't', bounds)).toBe(first);
    expect((await catalog.get('game', bounds)).revision).toBe(1);
    expect(engine.reads).toHaveLength(1);
  });

  it('tells an unknown namespace from an unknown table, and asks again next time', async () => {
    const engine = slowEngine();
    const catalog = new SchemaCatalog(engine);
    const missing = catalog.table('game', 't', bounds);
    engine.reads[0]?.(null);
    await expect(missing).rejects.toMatchObject({ code: 'namespace_unknown', status: 404 });
    const other = catalog.table('game', 'u', bounds);
    engine.reads[1]?.(stored(1));
    await expect(other).rejects.toMatchObject({ code: 'unknown_table', status: 404 });
  });

  it('does not keep what was being read when it was told to forget', async () => {
    const engine = slowEngine();
    const catalog = new SchemaCatalog(engine);
    const old = catalog.get('game', bounds);
    catalog.forget('game');
    const fresh = catalog.get('game', bounds);
    engine.reads[1]?.(stored(2));
    expect((await fresh).revision).toBe(2);
    engine.reads[0]?.(stored(1));
    expect((await old).revision).toBe(1);
    expect((await catalog.get('game', bounds)).revision).toBe(2);
    expect(engine.reads).toHaveLength(2);
  });

  it('does not keep a failure', async () => {
    let fails = true;
    const readSchema = async () => {
      if (fails) throw new Error('away');
      return stored(3);
    };
    const catalog = new SchemaCatalog({ schemas: { readSchema }, transfer });
    await expect(catalog.get('game', bounds)).rejects.toThrow('away');
    fails = false;
    expect((await catalog.get('game', bounds)).revision).toBe(3);
  });

  describe('for the queue', () => {
    const away = new ApiError('database_error', 'the database cannot be reached');

    function engineWith(answer: () => StoredSchema | null) {
      return { schemas: { readSchema: async () => answer() }, transfer };
    }

    it('takes the schema that is there, else the one known last, but not for what is not declared', async () => {
      const answers: (() => StoredSchema)[] = [() => stored(7)];
      const catalog = new SchemaCatalog(
        engineWith(() => {
          const answer = answers.shift();
          if (answer === undefined) throw away;
          return answer();
        }),
      );
      await expect(catalog.tableForQueue('other', 'u', bounds)).rejects.toMatchObject({ code: 'unknown_table' });
      catalog.forget('other');
      expect((await catalog.tableForQueue('other', 't', bounds)).revision).toBe(7);
      await expect(catalog.tableForQueue('other', 'u', bounds)).rejects.toMatchObject({ code: 'unknown_table' });
      await expect(catalog.table('other', 't', bounds)).rejects.toBe(away);
      await expect(catalog.tableForQueue('never_seen', 't', bounds)).rejects.toBe(away);
    });

    it('takes what it was seeded with only until the database answers, which is told', async () => {
      let isAway = true;
      const catalog = new SchemaCatalog(
        engineWith(() => {
          if (isAway) throw away;
          return stored(9);
        }),
      );
      const read: number[] = [];
      catalog.onRead(({ revision }) => read.push(revision));
      catalog.seed(stored(4));
      expect((await catalog.tableForQueue('game', 't', bounds)).revision).toBe(4);
      await expect(catalog.table('game', 't', bounds)).rejects.toBe(away);
      isAway = false;
      await catalog.table('game', 't', bounds);
      expect((await catalog.tableForQueue('game', 't', bounds)).revision).toBe(9);
      expect(read).toEqual([9]);
      catalog.forget('game');
      catalog.seed(stored(4));
      isAway = true;
      expect((await catalog.tableForQueue('game', 't', bounds)).revision).toBe(9);
    });

    it('does not hide that a namespace has gone', async () => {
      const catalog = new SchemaCatalog(engineWith(() => null));
      catalog.seed(stored(4));
      await expect(catalog.tableForQueue('game', 't', bounds)).rejects.toMatchObject({ code: 'namespace_unknown' });
    });
  });
});
