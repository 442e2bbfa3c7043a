import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { QueueBatch, QueuedEntry } from '#engine/queues.ts';
import type { TableTarget, Write } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { declare, row, rowsOf, where, within } from '../engine-calls.ts';
import { Cutter } from './cutter.ts';
import { WriteWorld } from './write-world.ts';

/** Random queues, cut off somewhere and gone on with in other batches, against a table in memory. */

let world: WriteWorld;
let survivor: Engine;
let target: TableTarget;

const TABLE = {
  name: 'items',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'n', type: 'int32', nullable: true },
    { name: 'tag', type: 'string', nullable: true, unique: true },
  ],
};

beforeAll(async () => {
  world = await WriteWorld.open();
  survivor = await world.engine();
  target = (await declare(survivor, 'game', [TABLE])).items as TableTarget;
});

afterAll(() => world.close());

interface Item {
  readonly id: number;
  readonly n: number | null;
  readonly tag: string | null;
}

type Step =
  | { readonly op: 'insert'; readonly items: readonly Item[] }
  | { readonly op: 'inc'; readonly id: number; readonly by: number; readonly above: number | null }
  | { readonly op: 'set'; readonly id: number; readonly n: number | null }
  | { readonly op: 'tag'; readonly id: number; readonly tag: string | null }
  | { readonly op: 'upsert'; readonly item: Item; readonly takes: 'n' | 'all' }
  | { readonly op: 'count'; readonly id: number; readonly by: number; readonly from: number }
  | { readonly op: 'incAll'; readonly by: number }
  | { readonly op: 'delete'; readonly id: number };

const id = fc.integer({ min: 1, max: 5 });
const n = fc.option(fc.integer({ min: 0, max: 9 }));
const tag = fc.option(fc.constantFrom('a', 'b'), { freq: 2 });
const by = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -3, max: 3 }) }, fc.constant(2 ** 31 - 5));
const item = fc.record({ id, n, tag });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('insert'), items: fc.array(item, { minLength: 1, maxLength: 3 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('inc'), id, by, above: fc.option(fc.integer({ min: 0, max: 5 })) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('set'), id, n }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('tag'), id, tag }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('upsert'), item, takes: fc.constantFrom('n', 'n', 'all') }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('count'), id, by, from: fc.constantFrom(0, 7) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('incAll'), by }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('delete'), id }) },
) as fc.Arbitrary<Step>;

const isInt32 = (value: number): boolean => Object.is(value, value | 0);

/** State after each step. A refused step changes nothing, but for inserts before the fault. */
class Model {
  items = new Map<number, Item>();
  readonly refused: number[] = [];

  run(steps: readonly Step[]): void {
    for (const [i, each] of steps.entries()) if (!this.#step(each)) this.refused.push(i + 1);
  }

  #step(each: Step): boolean {
    switch (each.op) {
      case 'insert':
        return each.items.every((added) => !this.items.has(added.id) && this.#put(added));
      case 'upsert': {
        const there = this.items.get(each.item.id);
        return this.#put(there !== undefined && each.takes === 'n' ? { ...there, n: each.item.n } : each.item);
      }
      case 'count': {
        const isThere = this.items.has(each.id);
        if (isThere) return this.#inc((other) => other.id === each.id, each.by);
        return isInt32(each.from + each.by) && this.#put({ id: each.id, n: each.from + each.by, tag: null });
      }
      case 'inc':
        return this.#inc(
          (each_) => each_.id === each.id && (each.above === null || (each_.n ?? -1) > each.above),
          each.by,
        );
      case 'incAll':
        return this.#inc(() => true, each.by);
      case 'set':
        return this.#change(each.id, { n: each.n });
      case 'tag':
        return this.#change(each.id, { tag: each.tag });
      case 'delete':
        this.items.delete(each.id);
        return true;
      default:
        return each satisfies never;
    }
  }

  #put(next: Item): boolean {
    const isTaken = [...this.items.values()].some((other) => other.id !== next.id && other.tag === next.tag);
    if (next.tag !== null && isTaken) return false;
    this.items.set(next.id, next);
    return true;
  }

  #change(of: number, values: Partial<Item>): boolean {
    const there = this.items.get(of);
    return there === undefined || this.#put({ ...there, ...values });
  }

  #inc(isMeant: (each: Item) => boolean, amount: number): boolean {
    const changed = [...this.items.values()].filter(isMeant).map((each) => ({ ...each, n: (each.n ?? 0) + amount }));
    if (!changed.every((each) => isInt32(each.n))) return false;
    for (const each of changed) this.items.set(each.id, each);
    return true;
  }
}

const rowFor = ({ id: key, ...values }: Item) => row({ id: BigInt(key), ...values });

function writeOf(each: Step): Write {
  const only = (key: number) => ({ field: 'id', op: 'eq', value: key });
  switch (each.op) {
    case 'insert':
      return { op: 'insert', rows: each.items.map(rowFor) };
    case 'upsert':
      return { op: 'upsert', row: rowFor(each.item), keys: ['id'], update: each.takes === 'n' ? ['n'] : ['n', 'tag'] };
    case 'count': {
      const begun = each.from + each.by;
      const insertFault = isInt32(begun) ? {} : { insertFault: new ApiError('invalid_value', 'out of range') };
      const values = { id: BigInt(each.id), n: isInt32(begun) ? begun : null, tag: null };
      return {
        op: 'upsert',
        row: row(values),
        keys: ['id'],
        update: [],
        inc: row({ n: BigInt(each.by) }),
        ...insertFault,
      };
    }
    case 'inc': {
      const above = each.above === null ? [] : [{ field: 'n', op: 'gt', value: each.above }];
      const filter = where(target, { and: [only(each.id), ...above] });
      return { op: 'update', filter, set: row({}), inc: row({ n: BigInt(each.by) }) };
    }
    case 'incAll':
      return { op: 'update', filter: null, set: row({}), inc: row({ n: BigInt(each.by) }) };
    case 'set':
      return { op: 'update', filter: where(target, only(each.id)), set: row({ n: each.n }), inc: row({}) };
    case 'tag':
      return { op: 'update', filter: where(target, only(each.id)), set: row({ tag: each.tag }), inc: row({}) };
    case 'delete':
      return { op: 'delete', filter: where(target, only(each.id)) };
    default:
      return each satisfies never;
  }
}

async function begin(steps: readonly Step[]): Promise<QueueBatch> {
  await survivor.write(target, { op: 'delete', filter: null }, null, within(10_000));
  const journal = randomUUID().slice(0, 10);
  const { token } = await survivor.queues.claimQueue('game', journal, within(10_000));
  const entries = steps.map((each, i): QueuedEntry => {
    const about = { kid: 'k', op: each.op, payload: '{}', time: i, isRetry: false };
    return { position: i + 1, letterId: `${journal}-${i + 1}`, ...about, work: { target, write: writeOf(each) } };
  });
  return { namespace: 'game', journal, token, entries };
}

/** A process that dies after so many commands, if it has not come to the end by then. */
async function attempt(batch: QueueBatch, commands: number): Promise<void> {
  const cutter = await Cutter.open(world.url, ['_schemas', '_sidecars']);
  const victim = await world.engine({ url: cutter.url });
  await victim.count(target, null, within(10_000));
  const cut = cutter.cutAfter(commands);
  await Promise.race([cut, victim.queues.applyQueue(batch, within(3000)).catch(() => {})]);
  await cutter.close();
}

it('is as if every write had been made once, in order', { timeout: 120_000 }, async () => {
  const steps = fc.array(step, { minLength: 3, maxLength: 14 });
  const cuts = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(steps, cuts, fc.nat({ max: 14 }), async (program, deaths, split) => {
      const model = new Model();
      model.run(program);
      const batch = await begin(program);
      for (const commands of deaths) await attempt(batch, commands);
      const first = batch.entries.slice(0, 1 + (split % batch.entries.length));
      await survivor.queues.applyQueue({ ...batch, entries: first }, within(10_000));
      await survivor.queues.applyQueue(batch, within(10_000));
      const letters = await survivor.queues.listLetters('game', within(10_000));
      const refused = letters.filter(({ id: letter }) => letter.startsWith(batch.journal)).map(({ time }) => time + 1);
      expect(refused).toEqual(model.refused);
      const expected = [...model.items.values()].toSorted((a, b) => a.id - b.id);
      expect(await rowsOf(survivor, target)).toEqual(expected);
    }),
    { numRuns: Number(process.env.QUEUE_RUNS ?? 30), endOnFailure: true },
  );
});
