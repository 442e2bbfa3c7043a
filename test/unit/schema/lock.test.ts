import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { MAIN_PART } from '#protocol/schema.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { NamespaceGate } from '#sidecar/schema/gate.ts';
import { lockOwner } from '#sidecar/schema/namespace-lock.ts';
import { SchemaSync } from '#sidecar/schema/sync.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
let engine: Engine;
const bounds = { deadline: Number.MAX_SAFE_INTEGER };
const START = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  folder = testFolder();
  const settings = { provider: 'sqlite', file: join(folder, 'database.sqlite'), poolSize: 2 } as const;
  engine = await openEngine(settings, { log: () => {}, now: () => START });
});

afterAll(async () => {
  await engine.close();
});

function syncOf(owner: string, now: () => number) {
  const options = { engine, catalog: new SchemaCatalog(engine), gate: new NamespaceGate(), removed: 'drop' } as const;
  const sync = new SchemaSync({ ...options, owner, now, log: () => {}, drain: async () => {} });
  return (namespace: string, ...tables: string[]) =>
    sync.sync({
      namespace,
      part: MAIN_PART,
      schema: { tables: tables.map((name) => ({ name, columns: [{ name: 'c', type: 'int32' }] })) },
      dryRun: false,
      deadline: performance.now() + 10_000,
    });
}

describe('the lock of a namespace', () => {
  it('keeps others out for 10 s, and its owner never', async () => {
    expect(await engine.schemas.lockNamespace('a', 'one', START, bounds)).toBe(true);
    expect(await engine.schemas.lockNamespace('a', 'one', START, bounds)).toBe(true);
    expect(await engine.schemas.lockNamespace('b', 'two', START, bounds)).toBe(true);
    expect(await engine.schemas.lockNamespace('a', 'two', START + 9999, bounds)).toBe(false);
    expect(await engine.schemas.lockNamespace('a', 'one', START + 9999, bounds)).toBe(true);
    expect(await engine.schemas.lockNamespace('a', 'two', START + 10_000, bounds)).toBe(false);
    expect(await engine.schemas.lockNamespace('a', 'two', START + 19_999, bounds)).toBe(true);
    expect(await engine.schemas.lockNamespace('a', 'one', START + 20_000, bounds)).toBe(false);
  });

  it('is given up only by its owner', async () => {
    await engine.schemas.lockNamespace('c', 'one', START, bounds);
    await engine.schemas.unlockNamespace('c', 'two', bounds);
    expect(await engine.schemas.lockNamespace('c', 'two', START, bounds)).toBe(false);
    await engine.schemas.unlockNamespace('c', 'one', bounds);
    expect(await engine.schemas.lockNamespace('c', 'two', START, bounds)).toBe(true);
  });

  it('does not hold where its time lies in a future that never comes', async () => {
    await engine.schemas.lockNamespace('d', 'one', START + 86_400_000, bounds);
    expect(await engine.schemas.lockNamespace('d', 'two', START, bounds)).toBe(true);
  });

  it('stops a sync while another sidecar holds it, and not after 10 s', async () => {
    let time = START;
    await engine.schemas.lockNamespace('game', 'another sidecar', START, bounds);
    const sync = syncOf('this one', () => time);
    await expect(sync('game', 't')).rejects.toMatchObject({ code: 'sync_in_progress', status: 409 });
    expect(await engine.schemas.readSchema('game', bounds)).toBeNull();
    time += 10_000;
    expect(await sync('game', 't')).toMatchObject({ status: 'applied' });
    // It was released: another one need not wait.
    expect(await syncOf('a third', () => time)('game', 'u')).toMatchObject({ status: 'applied' });
  });

  it('is taken over at once by the sidecar that left it behind', async () => {
    const owner = lockOwner('/etc/sidecar.json');
    await engine.schemas.lockNamespace('home', owner, START, bounds);
    expect(await syncOf(lockOwner('/etc/sidecar.json'), () => START)('home', 't')).toMatchObject({ status: 'applied' });
    expect(lockOwner('/etc/other.json')).not.toBe(owner);
  });

  it('is not needed where nothing would change', async () => {
    const sync = syncOf('this one', () => START);
    await sync('calm', 't');
    await engine.schemas.lockNamespace('calm', 'another sidecar', START, bounds);
    expect(await sync('calm', 't')).toMatchObject({ status: 'unchanged', changed: false });
  });
});

describe('two sidecars on one database', () => {
  it('plan again where the other one was quicker, and reach the last declaration', async () => {
    const [one, two] = [syncOf('one', () => START), syncOf('two', () => START)];
    const answers = await Promise.allSettled([
      one('shared', 'a'),
      two('shared', 'b'),
      one('other', 'a'),
      two('third', 'b'),
    ]);
    const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
    expect(['', 'sync_in_progress']).toContain(failed.join());
    expect(await two('shared', 'c')).toMatchObject({ status: 'applied' });
    const stored = await engine.schemas.readSchema('shared', bounds);
    expect(stored?.schema.tables.map((table) => table.name)).toEqual(['c']);
  });

  it('refuse a change that was planned from an older schema', async () => {
    const sync = syncOf('one', () => START);
    await sync('stale', 'a');
    const from = await engine.schemas.readSchema('stale', bounds);
    await sync('stale', 'b');
    const change = { namespace: 'stale', from, to: { tables: [] }, hash: 'x', steps: [], dryRun: false, now: START };
    await expect(engine.schemas.applySchema(change, bounds)).rejects.toMatchObject({ name: 'StaleSchemaError' });
    await expect(engine.schemas.applySchema({ ...change, dryRun: true }, bounds)).rejects.toMatchObject({
      name: 'StaleSchemaError',
    });
    expect((await engine.schemas.readSchema('stale', bounds))?.revision).toBe(2);
  });
});
