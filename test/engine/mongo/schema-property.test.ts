import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { parseValue, type Value } from '#protocol/values.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { type ModelRow, type ModelTable, Random } from '#support/schema-model.ts';
import { MongoWorld, syncer, within } from './schema-world.ts';

const RUNS = 10;
const ROWS = 4;
/** More commands than the change of two small tables has. */
const MAX_COMMANDS = 60;

let world: MongoWorld;
let engine: Engine;
let count = 0;

beforeAll(async () => {
  world = await MongoWorld.open();
  engine = await world.engine();
});

afterAll(async () => {
  await engine.close();
  await world.close();
});

/** Rows that some other row collides with are left out, the same in every namespace. */
async function insert(namespace: string, name: string, row: ModelRow): Promise<void> {
  const target = await new SchemaCatalog(engine).table(namespace, name, within(5000));
  const values = new Map<string, Value>();
  for (const column of target.table.columns) {
    const given = row[column.name];
    if (given !== undefined) values.set(column.name, parseValue(column, given as never));
  }
  await engine.write(target, { op: 'insert', rows: [values] }, null, within(5000)).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 'constraint_violation') throw error;
  });
}

async function outcome(sync: Promise<unknown>): Promise<string> {
  return sync.then(
    () => 'applied',
    (error: { code?: unknown }) => String(error.code),
  );
}

it('any change that is cut off anywhere ends as one that was not', async () => {
  const answers = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.gen(), fc.nat({ max: MAX_COMMANDS }), async (g, commands) => {
      const random = new Random(g);
      const stored: ModelTable[] = ['t1', 't2'].map((name) => random.table(name));
      const rows = stored.flatMap((table) => Array.from({ length: ROWS }, () => ({ table, row: random.row(table) })));
      const declared = random.changed(stored);
      count += 1;
      const whole = `whole${count}x`;
      const cut = `cutoff${count}x`;
      for (const namespace of [whole, cut]) {
        await syncer(engine)(namespace, stored);
        for (const { table, row } of rows) await insert(namespace, table.name, row);
      }
      const expected = await outcome(syncer(engine)(whole, declared));
      await world.crashes(commands, (crashing) => outcome(syncer(crashing)(cut, declared)));
      expect(await outcome(syncer(engine)(cut, declared))).toBe(expected);
      expect(await world.dump(cut)).toEqual(await world.dump(whole));
      answers.add(expected);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  expect(answers).toContain('applied');
}, 120_000);
