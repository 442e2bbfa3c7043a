import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAIN_PART } from '../../../db_connector/protocol/schema.ts';
import { type Engine, StaleSchemaError, type StoredSchema } from '../../../sidecar/engine/engine.ts';
import type { SchemaChange } from '../../../sidecar/engine/schema-change.ts';
import { SchemaCatalog } from '../../../sidecar/schema/catalog.ts';
import { NamespaceGate } from '../../../sidecar/schema/gate.ts';
import { SchemaSync } from '../../../sidecar/schema/sync.ts';

/** An engine that holds each change until the test lets it go, and remembers what it was asked. */
function scripted() {
  const events: string[] = [];
  const changes: { change: SchemaChange; end: (error?: Error) => void }[] = [];
  let stored: StoredSchema | null = null;
  const engine = {
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
      lockNamespace: async () => events.push('lock') > 0,
      unlockNamespace: async () => {
        events.push('unlock');
      },
    },
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
    owner: 'me',
    now: () => 0,
    log: () => {},
    drain: async () => {},
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
    await vi.waitFor(() => expect(changes.length).toBeGreaterThanOrEqual(n));
    return changes[n - 1] as (typeof changes)[number];
  };
  return { declare, change, events, gate, catalog };
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
