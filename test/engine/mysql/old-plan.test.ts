import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AFTER, BEFORE, type KeptIds, MYSQL_PENDING, RESTORED } from '#support/old-build/pending-changes.ts';
import { CrashingSessions, type SchemaWorld, schemaWorld, sync, within } from './schema-world.ts';

/** Many places of a crash, each with tables to make. */
const TIMEOUT_MS = 120_000;

/**
 * A schema change that an older build stored and did not finish: it ended before any of the statements after that. The
 * present build finds the older text, whatever it would have stored itself.
 */

let world: SchemaWorld;

beforeAll(async () => {
  world = await schemaWorld();
});

afterAll(async () => {
  await world.drop();
});

const idsOf = async (namespace: string): Promise<KeptIds> => {
  const found = await world.sql('SELECT id, kind FROM _quarantine WHERE namespace = ?', [namespace]);
  const idOf = (kind: string) => Number(found.find((row) => row.kind === kind)?.id);
  return { column: idOf('column'), table: idOf('table') };
};

/** Changes the stored text into that of the older build; false if no change is pending. */
async function grownOld(namespace: string, kind: keyof typeof MYSQL_PENDING, ids: KeptIds): Promise<boolean> {
  const [row] = await world.sql('SELECT pending FROM _schemas WHERE namespace = ?', [namespace]);
  if (typeof row?.pending !== 'string') return false;
  const { now } = JSON.parse(row.pending) as { readonly now: number };
  const text = MYSQL_PENDING[kind]({ namespace, now, ...ids });
  await world.sql('UPDATE _schemas SET pending = ? WHERE namespace = ?', [text, namespace]);
  return true;
}

let count = 0;

async function prepared(): Promise<string> {
  const namespace = `old${count++}`;
  await sync(world.calls(), namespace, { tables: BEFORE });
  await world.sql(`INSERT INTO ${namespace}__a VALUES (1, 'one', 11), (2, 'two', 22)`);
  await world.sql(`INSERT INTO ${namespace}__gone VALUES (7)`);
  return namespace;
}

async function changed(): Promise<string> {
  const namespace = await prepared();
  await sync(world.calls(), namespace, { tables: AFTER });
  return namespace;
}

/** Runs `change` with a process that ends at each statement in turn, then `check` if a change was pending. */
async function atEachPending(
  make: () => Promise<string>,
  change: (calls: ReturnType<SchemaWorld['calls']>, namespace: string) => Promise<unknown>,
  check: (namespace: string) => Promise<boolean>,
): Promise<number> {
  let places = 0;
  for (let crashAt = 5; ; crashAt += 1) {
    const namespace = await make();
    const sessions = new CrashingSessions(world.url, crashAt);
    await change(world.calls(sessions), namespace).catch(() => {});
    if (!sessions.hasCrashed) return places;
    if (await check(namespace)) places += 1;
  }
}

describe('a change that an older build has stored', { timeout: TIMEOUT_MS }, () => {
  it('is finished wherever that build ended', async () => {
    const places = await atEachPending(
      prepared,
      (calls, namespace) => sync(calls, namespace, { tables: AFTER }),
      async (namespace) => {
        if (!(await grownOld(namespace, 'sync', await idsOf(namespace)))) return false;
        const stored = await world.calls().readSchema(namespace, within(20_000));
        expect(stored?.isUnfinished).toBeUndefined();
        expect(await sync(world.calls(), namespace, { tables: AFTER })).toEqual(stored);
        expect(stored?.revision).toBe(2);
        expect(await world.sql(`SELECT id, m, u FROM ${namespace}__b ORDER BY id`)).toEqual([
          { id: '1', m: '11', u: 3 },
          { id: '2', m: '22', u: 3 },
        ]);
        expect(await world.calls().listQuarantine(namespace, within(5000))).toMatchObject([
          { kind: 'column', table: 'b', column: 'x', rows: 2 },
          { kind: 'table', table: 'gone', rows: 1 },
        ]);
        return true;
      },
    );
    expect(places).toBeGreaterThan(8);
  });

  it.each(['column', 'table'] as const)('puts a %s back wherever that build ended', async (kind) => {
    const places = await atEachPending(
      changed,
      async (calls, namespace) => calls.restoreQuarantine((await idsOf(namespace))[kind], Date.now(), within(20_000)),
      async (namespace) => {
        if (!(await grownOld(namespace, kind, await idsOf(namespace)))) return false;
        const stored = await world.calls().readSchema(namespace, within(20_000));
        expect(stored?.isUnfinished).toBeUndefined();
        expect(stored?.revision).toBe(3);
        const [left, ...others] = await world.calls().listQuarantine(namespace, within(5000));
        expect(others).toEqual([]);
        await world.calls().restoreQuarantine(Number(left?.id), Date.now(), within(20_000));
        // Nothing to change: the schema is what was declared.
        expect((await sync(world.calls(), namespace, { tables: RESTORED }))?.revision).toBe(4);
        expect(await world.sql(`SELECT id, m, u, x FROM ${namespace}__b ORDER BY id`)).toEqual([
          { id: '1', m: '11', u: 3, x: 'one' },
          { id: '2', m: '22', u: 3, x: 'two' },
        ]);
        expect(await world.sql(`SELECT id FROM ${namespace}__gone`)).toEqual([{ id: '7' }]);
        return true;
      },
    );
    expect(places).toBeGreaterThan(3);
  });
});
