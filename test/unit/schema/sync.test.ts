import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClusterCalls } from '#engine/cluster/cluster-calls.ts';
import { Leases } from '#engine/cluster/leases.ts';
import type { Engine } from '#engine/engine.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { SchemaChange, StoredSchema } from '#engine/schema-calls.ts';
import type { JsonObject } from '#protocol/json-value.ts';
import { MAIN_PART } from '#protocol/schema.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { NamespaceGate } from '#sidecar/schema/gate.ts';
import { SchemaSync } from '#sidecar/schema/sync.ts';

/** An engine that holds each change until the test lets it go, and remembers what it was asked. */
function scripted({ extendWaitMs = 60_000 } = {}) {
  const events: string[] = [];
  const changes: { change: SchemaChange; end: (error?: Error) => void }[] = [];
  let stored: StoredSchema | null = null;
  const engine = {
    capabilities: { maxDecimalScale: Number.POSITIVE_INFINITY },
    schemas: {
      readSchema: async () => stored,
      applySchema: (change: SchemaChange) =>
        new Promise<void>((resolve, reject) => {
          events.push(change.dryRun ? 'check' : 'apply');
          const end = (error?: Error): void => {
            if (error !== undefined) {
              reject(error);
              return;
            }
            const { namespace, to: schema, hash, dryRun } = change;
            if (!dryRun) stored = { namespace, revision: (stored?.revision ?? 0) + 1, hash, schema, updatedAt: '' };
            resolve();
          };
          changes.push({ change, end });
        }),
    },
    leases: new Leases(
      {
        readLease: async () => null,
        takeLease: async () => events.push('lock') > 0,
        renewLease: async () => events.push('lock') > 0,
        dropLease: async () => void events.push('unlock'),
      } as Partial<ClusterCalls> as ClusterCalls,
      { instance: () => 'me', now: () => 0, log: () => {} },
    ),
    transfer: { readMark: async () => null },
  };
  const gate = new NamespaceGate();
  const catalog = new SchemaCatalog(engine);
  // Only what a sync uses is there.
  const sync = new SchemaSync({
    engine: engine as unknown as Engine,
    catalog,
    gate,
    removed: 'quarantine',
    now: () => 0,
    log: () => {},
    drain: async () => {},
    extendWaitMs,
  });
  const extend = (part: string, ...tables: object[]) =>
    sync.sync({
      namespace: 'game',
      part,
      schema: { tables: tables as JsonObject[] },
      dryRun: false,
      deadline: performance.now() + 120_000,
    });
  const declare = (table: string, dryRun = false) =>
    sync.sync({
      namespace: 'game',
      part: MAIN_PART,
      schema: { tables: [{ name: table, columns: [{ name: 'c', type: 'int32' }] }] },
      dryRun,
      deadline: performance.now() + 10_000,
    });
  /** Waits until the engine was asked for its nth change. */
  const change = async (n: number) => {
    await expect.poll(() => changes.length, { interval: 5 }).toBeGreaterThanOrEqual(n);
    return changes[n - 1] as (typeof changes)[number];
  };
  return { declare, extend, change, events, gate, catalog };
}

describe('a sync that runs', () => {
  it('is joined by the same declaration, and by no other', async () => {
    const { declare, change, events } = scripted();
    const first = declare('a');
    const { end } = await change(1);
    const joined = declare('a');
    await expect(declare('b')).rejects.toMatchObject({ code: 'sync_in_progress' });
    await expect(declare('a', true)).rejects.toMatchObject({ code: 'sync_in_progress' });
    end();
    expect(await first).toMatchObject({ status: 'applied', changed: true });
    expect(await joined).toBe(await first);
    expect(events).toEqual(['lock', 'apply', 'unlock']);
    expect(await declare('a')).toMatchObject({ status: 'unchanged' });
  });

  it('holds operations back while it changes, not while it only looks', async () => {
    const { declare, change, gate } = scripted();
    const looking = declare('a', true);
    const looked = await change(1);
    expect(await gate.run('game', async () => 'beside a dry run')).toBe('beside a dry run');
    looked.end();
    await looking;
    const changing = declare('a');
    const changed = await change(2);
    let isDone = false;
    const held = gate.run('game', async () => {
      isDone = true;
    });
    await Promise.resolve();
    expect(isDone).toBe(false);
    changed.end();
    await Promise.all([changing, held]);
    expect(isDone).toBe(true);
  });

  it('leaves nothing behind when it fails', async () => {
    const { declare, change, events, gate } = scripted();
    const failing = declare('a');
    (await change(1)).end(new Error('the disk is full'));
    await expect(failing).rejects.toThrow('the disk is full');
    expect(events).toEqual(['lock', 'apply', 'unlock']);
    expect(await gate.run('game', async () => 'open')).toBe('open');
    const again = declare('a');
    (await change(2)).end();
    expect(await again).toMatchObject({ status: 'applied' });
  });

  it('makes the catalogue read again', async () => {
    const { declare, change, catalog } = scripted();
    const bounds = { deadline: performance.now() + 10_000 };
    const tables = ['a', 'b'] as const;
    for (const [i, table] of tables.entries()) {
      const syncing = declare(table);
      (await change(i + 1)).end();
      await syncing;
      expect(await catalog.table('game', table, bounds)).toMatchObject({ revision: i + 1 });
    }
  });

  it('plans again where another process was quicker, and gives up after five times', async () => {
    const { declare, change } = scripted();
    const syncing = declare('a');
    for (let attempt = 1; attempt <= 5; attempt += 1) (await change(attempt)).end(new StaleSchemaError('game'));
    await expect(syncing).rejects.toMatchObject({ code: 'conflict_retry', status: 409 });
    const lucky = declare('a');
    (await change(6)).end(new StaleSchemaError('game'));
    (await change(7)).end();
    expect(await lucky).toMatchObject({ status: 'applied' });
  });
});

describe('a part', () => {
  const own = { name: 'own', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }] };
  const added = { name: 'a', columns: [{ name: 'd', type: 'int32', nullable: true }] };

  it('waits for a running sync, and a sync for a running part; each gets its turn in the order of asking', async () => {
    const { declare, extend, change, events } = scripted();
    const syncing = declare('a');
    const first = await change(1);
    const extending = extend('one', own);
    const joined = extend('one', own);
    first.end();
    expect(await syncing).toMatchObject({ status: 'applied' });
    const second = await change(2);
    const again = declare('b');
    await expect(declare('c')).rejects.toMatchObject({ code: 'sync_in_progress' });
    const other = extend('two', { ...own, name: 'other' });
    expect(second.change.to.tables.map(({ name }) => name)).toEqual(['a', 'own']);
    second.end();
    const third = await change(3);
    expect(third.change.to.tables.map(({ name }) => name)).toEqual(['b', 'own']);
    third.end();
    const fourth = await change(4);
    expect(fourth.change.to.tables.map(({ name }) => name)).toEqual(['b', 'other', 'own']);
    fourth.end();
    expect((await Promise.all([extending, again, other])).map(({ status }) => status)).toEqual(
      Array(3).fill('applied'),
    );
    expect(await joined).toBe(await extending);
    expect(events.filter((event) => event === 'lock')).toHaveLength(4);
  });

  it('is refused with what is missing when nobody has declared it in time, and has held nobody up', async () => {
    const { extend, events } = scripted({ extendWaitMs: 20 });
    await expect(extend('one', added)).rejects.toMatchObject({
      code: 'unknown_table',
      message: expect.stringContaining('table a: no part has declared it'),
    });
    const indexes = [{ name: 'i', columns: ['nobodys'] }];
    await expect(extend('one', { ...added, indexes })).rejects.toMatchObject({ code: 'unknown_table' });
    expect(events).toEqual([]);
  });

  it('that waits gives way to its newer declaration', async () => {
    const { declare, extend, change } = scripted();
    const old = extend('one', added);
    const newer = extend('one', { ...added, columns: [{ name: 'e', type: 'int32', nullable: true }] });
    await expect(old).rejects.toMatchObject({ code: 'sync_in_progress' });
    const syncing = declare('a');
    (await change(1)).end();
    await syncing;
    const last = await change(2);
    expect(last.change.to.tables[0]?.columns.map(({ name }) => name)).toEqual(['c', 'e']);
    last.end();
    expect(await newer).toMatchObject({ status: 'applied' });
  });
});

describe('the lock of a sync that takes long', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is renewed every 3 s, and not after the end', async () => {
    const { declare, change, events } = scripted();
    const syncing = declare('a');
    const { end } = await change(1);
    await vi.advanceTimersByTimeAsync(9000);
    end();
    await syncing;
    await vi.advanceTimersByTimeAsync(9000);
    expect(events).toEqual(['lock', 'apply', 'lock', 'lock', 'lock', 'unlock']);
  });
});
