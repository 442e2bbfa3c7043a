import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unique } from '../support/sidecar.ts';
import { PATIENT, rowsOf, useSidecar } from './data-world.ts';

/**
 * After any random program, queued or not, with syncs in between that add, change and remove derived columns, each of them
 * agrees with its source. The oracle is written again and imports nothing of what it judges.
 */

const BUFFERED = 'buffered';
const PROGRAMS = 6;
const STEPS = 25;

const world = useSidecar({
  config: { ...PATIENT, writeBehind: { flushIntervalMs: 20, namespaces: { [BUFFERED]: { consistentReads: true } } } },
});

interface Declared {
  readonly fold: number | null;
  readonly path: readonly (string | number)[] | null;
}

const declared = ({ fold, path }: Declared, name: string) => ({
  name,
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'name', type: 'string', length: 40, nullable: true, default: ' Ünnamed ' },
    { name: 'data', type: 'json', nullable: true },
    { name: 'n', type: 'int64', default: 0 },
    { name: 'kind', type: 'string', length: 5, oneOf: ['a', 'b'], default: 'a' },
    { name: 'at', type: 'datetime', nullable: true, onUpdate: 'now' },
    ...(fold === null ? [] : [{ name: 'search', type: 'string', length: fold, derived: { from: 'name', fold: true } }]),
    ...(path === null ? [] : [{ name: 'taken', type: 'int32', derived: { from: 'data', path } }]),
  ],
  indexes: fold === null ? [] : [{ name: 'by_search', columns: ['search'] }],
});

const id = fc.integer({ min: 1, max: 8 });
const name = fc.option(
  fc.string({ unit: fc.constantFrom(...'aAéÉßşŞ \u0301ﬁz'), maxLength: 8 }).map((text) => text.normalize('NFC')),
);
const data = fc.option(
  fc.oneof(
    fc.integer({ min: -5, max: 3_000_000_000 }),
    fc.record({ a: fc.oneof(fc.integer(), fc.constantFrom('1', null, 1.5, true)), b: fc.array(fc.nat(9)) }),
  ),
);
const values = fc.record({ name, data, n: fc.nat(9), kind: fc.constantFrom('a', 'b') }, { requiredKeys: [] });
const change = fc.oneof(
  fc.tuple(id, values).map(([one, row]) => ['insert', { rows: [{ id: one, ...row }] }] as const),
  fc.tuple(id, values, fc.boolean()).map(([one, set, isAll]) => {
    const filter = { field: 'id', op: isAll ? 'gte' : 'eq', value: one };
    return ['update', { filter, ...(Object.keys(set).length === 0 ? { inc: { n: 1 } } : { set }) }] as const;
  }),
  fc.tuple(id, values, fc.constantFrom('plain', 'some', 'none', 'inc')).map(([one, row, way]) => {
    const { n: _, ...rest } = row;
    const more = {
      plain: {},
      some: { update: Object.keys(row).slice(0, 1) },
      none: { update: [] },
      inc: { row: { id: one, ...rest }, inc: { n: 2 } },
    }[way];
    return ['upsert', { row: { id: one, ...row }, keys: ['id'], ...more }] as const;
  }),
  id.map((one) => ['delete', { filter: { field: 'id', op: 'eq', value: one } }] as const),
);
const schema = fc.record({
  fold: fc.option(fc.integer({ min: 1, max: 12 })),
  path: fc.option(fc.constantFrom([], ['a'], ['b', 0], ['b', 2])),
});
type Step = readonly ['insert' | 'update' | 'upsert' | 'delete' | 'batch' | 'sync', object];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: change },
  {
    weight: 2,
    arbitrary: fc.array(change, { minLength: 1, maxLength: 4 }).map((changes): Step => ['batch', { changes }]),
  },
  { weight: 1, arbitrary: schema.map((wanted): Step => ['sync', wanted]) },
);

interface Row {
  readonly name: string | null;
  readonly data: unknown;
  readonly search?: string | null;
  readonly taken?: number | null;
}

function searchOf(text: string | null, length: number): string | null {
  if (text === null) return null;
  const letters = [...text.normalize('NFKD')].filter((letter) => !/^\p{M}$/u.test(letter));
  return [...letters.join('').toLowerCase().trim().normalize('NFC')].slice(0, length).join('');
}

function takenOf(data: unknown, path: readonly (string | number)[]): number | null {
  const value = path.reduce((at, part) => (at as Record<string | number, unknown> | null)?.[part] ?? null, data);
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null;
}

async function runProgram(steps: readonly Step[], first: Declared, isBuffered: boolean): Promise<void> {
  const namespace = isBuffered ? BUFFERED : unique('d');
  const table = unique('t');
  const call = (operation: string, payload: object) => world.client.call(operation, { namespace, ...payload });
  let now = first;
  const sync = () => world.client.must('schema.sync', { namespace, schema: { tables: [declared(now, table)] } });
  await sync();
  for (const [kind, payload] of steps) {
    if (kind === 'sync') {
      now = payload as Declared;
      await sync();
    } else if (kind === 'batch') {
      const { changes } = payload as { changes: readonly (readonly [string, object])[] };
      await call('batch', { atomic: false, operations: changes.map(([op, more]) => ({ op, table, ...more })) });
    } else {
      await call(kind, { table, ...payload });
    }
  }
  await call('flush', {});
  const rows = (await rowsOf(world.client, { namespace, table })) as unknown as Row[];
  const { fold, path } = now;
  const right = rows.map((row) => ({
    ...row,
    ...(fold === null ? {} : { search: searchOf(row.name, fold) }),
    ...(path === null ? {} : { taken: takenOf(row.data, path) }),
  }));
  expect(rows).toEqual(right);
  if (fold === null) return;
  for (const { name: text, search } of rows) {
    if (text === null) continue;
    const filter = { field: 'search', op: 'eq', value: ` ${text.toUpperCase().toLowerCase()} ` };
    const found = await world.client.must<{ count: number }>('count', { namespace, table, filter });
    const expected = searchOf(text.toUpperCase().toLowerCase(), fold);
    expect(found.count).toBe(rows.filter((row) => row.search === expected).length);
    if (expected === search) expect(found.count).toBeGreaterThan(0);
  }
}

it.each([
  ['at once', false],
  ['queued', true],
])(
  'a derived column agrees with its source after any random program: %s',
  async (_, isBuffered) => {
    const programs = fc.array(step, { minLength: STEPS, maxLength: STEPS });
    await fc.assert(
      fc.asyncProperty(programs, schema, async (steps, first) => runProgram(steps, first, isBuffered)),
      { numRuns: PROGRAMS, endOnFailure: true },
    );
  },
  300_000,
);
