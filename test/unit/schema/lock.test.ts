import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEASE_DEAD_MS, LeaseLostError } from '#engine/cluster/leases.ts';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { MAIN_PART } from '#protocol/schema.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { NamespaceGate } from '#sidecar/schema/gate.ts';
import { SchemaSync } from '#sidecar/schema/sync.ts';
import { testFolder } from '#support/test-folder.ts';

/** Sidecars of one file. Wall clocks are a day apart: nothing may depend on them. */
let file: string;
let one: Engine;
let two: Engine;
let monotonic = 1_000_000;
const opened: Engine[] = [];
const bounds = () => ({ deadline: performance.now() + 10_000 });
const START = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

async function sidecar(instance: string, now = START): Promise<Engine> {
  const settings = { provider: 'sqlite', file, poolSize: 2 } as const;
  const clocks = { now: () => now, monotonicNow: () => monotonic };
  const engine = await openEngine(settings, { log: () => {}, instance: () => instance, ...clocks });
  opened.push(engine);
  return engine;
}

beforeAll(async () => {
  file = join(testFolder(), 'database.sqlite');
  one = await sidecar('one');
  two = await sidecar('two', START + DAY_MS);
});

afterAll(async () => {
  for (const engine of opened) await engine.close();
});

function syncOf(engine: Engine, drain = async () => {}) {
  const options = { engine, catalog: new SchemaCatalog(engine), gate: new NamespaceGate(), removed: 'drop' } as const;
  const sync = new SchemaSync({ ...options, now: () => START, log: () => {}, drain });
  return (namespace: string, ...tables: string[]) =>
    sync.sync({
      namespace,
      part: MAIN_PART,
      schema: { tables: tables.map((name) => ({ name, columns: [{ name: 'c', type: 'int32' }] })) },
      dryRun: false,
      deadline: performance.now() + 10_000,
    });
}

describe('a lease', () => {
  it('keeps others out while its row changes, whatever their clocks say', async () => {
    const lease = await one.leases.hold('a', bounds());
    expect(await one.leases.hold('a', bounds())).toBeNull();
    expect(await two.leases.hold('a', bounds())).toBeNull();
    monotonic += LEASE_DEAD_MS - 1;
    expect(await two.leases.hold('a', bounds())).toBeNull();
    await lease?.check(bounds());
    monotonic += LEASE_DEAD_MS;
    expect(await two.leases.hold('a', bounds())).toBeNull();
    await lease?.release();
    const next = await two.leases.hold('a', bounds());
    expect(next?.owner).toMatch(/^two\./);
    await next?.release();
  });

  it('that did not change for 10 s of the own monotonic clock is taken, and its old holder is told', async () => {
    const lease = await one.leases.hold('b', bounds());
    expect(await two.leases.isHeld('b', bounds())).toBe(true);
    monotonic += LEASE_DEAD_MS;
    const next = await two.leases.hold('b', bounds());
    await expect(lease?.check(bounds())).rejects.toThrow(LeaseLostError);
    // The release of the old holder is none of the new one.
    await lease?.release();
    expect(await one.leases.hold('b', bounds())).toBeNull();
    await next?.check(bounds());
    await next?.release();
  });

  it('is asked for again where its holder was stopped before it read the answer', async () => {
    const lease = await one.leases.hold('stopped', bounds());
    const taken = lease?.checkBy(async (row) => {
      const isRenewed = await one.cluster.renewLease(row, bounds());
      if (!(await two.leases.isHeld('stopped', bounds()))) return isRenewed;
      monotonic += LEASE_DEAD_MS;
      await two.leases.hold('stopped', bounds());
      return isRenewed;
    });
    await expect(taken).rejects.toThrow(LeaseLostError);
  });

  it('of a sidecar that was killed is its own at once after a restart', async () => {
    const killed = await sidecar('home');
    await killed.leases.hold('c', bounds());
    expect(await two.leases.hold('c', bounds())).toBeNull();
    const lease = await (await sidecar('home')).leases.hold('c', bounds());
    expect(lease).not.toBeNull();
    await lease?.release();
  });

  it('of an older version, an owner without token, is respected as long as it changes', async () => {
    const old = { name: 'd', owner: 'box:0123456789abcdef', renewedAt: START + DAY_MS };
    await one.cluster.takeLease(old, null, bounds());
    await one.leases.look(bounds());
    await one.cluster.renewLease({ ...old, renewedAt: START }, bounds());
    monotonic += LEASE_DEAD_MS;
    expect(await one.leases.hold('d', bounds())).toBeNull();
    monotonic += LEASE_DEAD_MS;
    expect(await one.leases.hold('d', bounds())).not.toBeNull();
  });

  it('goes to one of many that ask at once', async () => {
    const many = await Promise.all(Array.from({ length: 8 }, (_, at) => sidecar(`many${at}`)));
    const taken = await Promise.all(many.map(({ leases }) => leases.hold('e', bounds())));
    expect(taken.filter((lease) => lease !== null)).toHaveLength(1);
  });
});

describe('a sync', () => {
  it('that has lost its lease on the way does not undo what another sidecar has declared meanwhile', async () => {
    await syncOf(one)('woken', 't');
    let drains = 0;
    const late = syncOf(one, async () => {
      // The second time it holds the lease. It is stopped there, and goes on after another one has taken the lease.
      drains += 1;
      if (drains !== 2) return;
      await two.leases.isHeld('woken', bounds());
      monotonic += LEASE_DEAD_MS;
      await syncOf(two)('woken', 't', 'newer');
    });
    await expect(late('woken', 't', 'older')).rejects.toMatchObject({ code: 'conflict_retry', status: 409 });
    expect(drains).toBe(2);
    const stored = await one.schemas.readSchema('woken', bounds());
    expect(stored?.schema.tables.map(({ name }) => name)).toEqual(['newer', 't']);
  });

  it('is refused while another sidecar holds the lease, and not once that one is dead', async () => {
    await one.leases.hold('game', bounds());
    const sync = syncOf(two);
    await expect(sync('game', 't')).rejects.toMatchObject({ code: 'sync_in_progress', status: 409 });
    expect(await two.schemas.readSchema('game', bounds())).toBeNull();
    monotonic += LEASE_DEAD_MS;
    expect(await sync('game', 't')).toMatchObject({ status: 'applied' });
    // It was released: another one need not wait.
    expect(await syncOf(await sidecar('third'))('game', 'u')).toMatchObject({ status: 'applied' });
  });

  it('needs no lease if nothing would change', async () => {
    await syncOf(one)('calm', 't');
    await two.leases.hold('calm', bounds());
    expect(await syncOf(one)('calm', 't')).toMatchObject({ status: 'unchanged', changed: false });
  });
});

describe('two sidecars on one database', () => {
  it('plan again where the other one was quicker, and reach the last declaration', async () => {
    const [first, second] = [syncOf(one), syncOf(two)];
    const answers = await Promise.allSettled([
      first('shared', 'a'),
      second('shared', 'b'),
      first('other', 'a'),
      second('third', 'b'),
    ]);
    const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
    expect(['', 'sync_in_progress']).toContain(failed.join());
    expect(await second('shared', 'c')).toMatchObject({ status: 'applied' });
    const stored = await one.schemas.readSchema('shared', bounds());
    expect(stored?.schema.tables.map((table) => table.name)).toEqual(['c']);
  });

  it('refuse a change that was planned from an older schema', async () => {
    const sync = syncOf(one);
    await sync('stale', 'a');
    const from = await one.schemas.readSchema('stale', bounds());
    await sync('stale', 'b');
    const change = { namespace: 'stale', from, to: { tables: [] }, hash: 'x', steps: [], dryRun: false, now: START };
    await expect(one.schemas.applySchema(change, bounds())).rejects.toMatchObject({ name: 'StaleSchemaError' });
    const dryRun = one.schemas.applySchema({ ...change, dryRun: true }, bounds());
    await expect(dryRun).rejects.toMatchObject({ name: 'StaleSchemaError' });
    expect((await one.schemas.readSchema('stale', bounds()))?.revision).toBe(2);
  });
});
