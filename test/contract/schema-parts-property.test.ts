import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOOKKEEPING_NAMES, SYSTEM_COLUMNS } from '../support/odd-names.ts';
import { type Declaration, PartsModel } from '../support/parts-model.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { PATIENT } from './data-world.ts';
import { type Described, type PartsWorld, partsWorld } from './parts-world.ts';

const RUNS = 8;
const CHANGES = 8;
const PARTS = ['main', 'phone', 'garage'];
/** Each run draws its columns from one of them, the same for every part, so that parts get in each other's way. */
const COLUMN_LISTS = [['a', 'b', 'c', 'd', 'e', 'f'], SYSTEM_COLUMNS, BOOKKEEPING_NAMES].map((names) =>
  names.filter((name) => name !== 'id'),
);
const COLUMNS = 6;
const someOf = (names: readonly string[]): fc.Arbitrary<string[]> =>
  fc.shuffledSubarray([...names], { minLength: COLUMNS, maxLength: COLUMNS });

let sidecar: TestSidecar;

beforeAll(async () => {
  sidecar = await startSidecar({ config: PATIENT });
});

afterAll(async () => {
  await sidecar.stop();
});

/** Draws a declaration of a part, which extends only what is there: what is not would be waited for. */
function drawn(g: fc.GeneratorValue, model: PartsModel, part: string, columns: readonly string[]): Declaration {
  const some = (share: number) => columns.filter(() => g(fc.integer, { min: 0, max: 99 }) < share);
  const isDeclared = () => g(fc.integer, { min: 0, max: 99 }) < 75;
  const mine = [`${part}_one`, `${part}_two`].filter(isDeclared);
  const theirs = part === 'main' ? [] : [...model.tables.keys()].filter((name) => !name.startsWith(part));
  const added = theirs.filter(isDeclared).map((name) => [name, some(20)] as const);
  return {
    own: new Map(mine.map((name) => [name, some(40)])),
    added: new Map(added.filter(([, columns]) => columns.length > 0)),
  };
}

const column = (name: string) => ({ name, type: 'string', length: 30, nullable: true });

function tablesOf({ own, added }: Declaration): object[] {
  const id = { name: 'id', type: 'int64' };
  return [
    ...[...own].map(([name, names]) => ({ name, primaryKey: ['id'], columns: [id, ...names.map(column)] })),
    ...[...added].map(([name, names]) => ({
      name,
      columns: names.map(column),
      indexes: [{ name: `by_${names[0]}`, columns: [names[0], 'id'] }],
    })),
  ];
}

function declare(game: PartsWorld, part: string, declaration: Declaration, dryRun: boolean) {
  const payload = { dryRun, schema: { tables: tablesOf(declaration) } };
  return part === 'main' ? game.call('schema.sync', payload) : game.call('schema.extend', { ...payload, part });
}

async function partsOf(game: PartsWorld): Promise<Map<string, Described>> {
  const described = await Promise.all(PARTS.map((part) => game.describe(part)));
  return new Map(PARTS.map((part, i) => [part, { ...(described[i] as Described), updatedAt: null }]));
}

/** Tables, columns and rows are the model's. */
async function compare(game: PartsWorld, model: PartsModel): Promise<void> {
  const { schema } = await game.describe();
  const columns = (schema?.tables ?? []).map((table) => [table.name, table.columns.map(({ name }) => name).sort()]);
  expect(Object.fromEntries(columns)).toEqual(
    Object.fromEntries([...model.tables].map(([name, names]) => [name, ['id', ...names].sort()])),
  );
  for (const name of model.tables.keys()) expect(await game.rows(name)).toEqual(model.rows(name));
}

async function fill(game: PartsWorld, model: PartsModel, id: number): Promise<void> {
  for (const [name, columns] of model.tables) {
    const row = { id, ...Object.fromEntries(columns.map((key) => [key, `${key} ${id}`])) };
    await game.insert(name, row);
    model.insert(name, row);
  }
}

it('parts declared in any order leave the tables, columns and rows that each of them wants', async () => {
  const answers = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (g) => {
      const model = new PartsModel();
      const game = partsWorld(() => sidecar);
      const columns = g(someOf, g(fc.constantFrom, ...COLUMN_LISTS));
      for (let change = 1; change <= CHANGES; change += 1) {
        const part = g(fc.constantFrom, ...PARTS);
        const declaration =
          g(fc.integer, { min: 0, max: 9 }) === 0
            ? { own: new Map(), added: new Map() }
            : drawn(g, model, part, columns);
        const before = await partsOf(game);
        const planned = await declare(game, part, declaration, true);
        expect(await partsOf(game)).toEqual(before);
        const answer = await declare(game, part, declaration, false);
        const isPossible = model.declare(part, declaration);
        expect([answer.code, planned.code]).toEqual(Array(2).fill(isPossible ? '' : 'unsupported_change'));
        answers.set(answer.code, (answers.get(answer.code) ?? 0) + 1);
        expect(answer.result.plan).toEqual(planned.result.plan);
        const after = await partsOf(game);
        for (const other of PARTS) {
          if (other !== part || !isPossible) expect(after.get(other)).toEqual(before.get(other));
        }
        if (isPossible && tablesOf(declaration).length > 0) expect(after.get(part)?.hash).toBe(answer.result.hash);
        await compare(game, model);
        await fill(game, model, change);
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  // Both were tried, so that agreement means something.
  for (const code of ['', 'unsupported_change']) expect(answers.get(code)).toBeGreaterThan(3);
}, 300_000);
