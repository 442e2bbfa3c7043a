import { describe, expect, it } from 'vitest';
import type { StoredSchema } from '../../../sidecar/engine/engine.ts';
import { SchemaCatalog } from '../../../sidecar/schema/catalog.ts';

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
});
