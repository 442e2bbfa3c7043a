import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { Row, Write } from '#engine/rows.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { parseSchema } from '#protocol/schema.ts';
import { summarise } from '#sidecar/moving/checksum.ts';
import { copyRows } from '#sidecar/moving/copy-rows.ts';
import { tablePlace } from '#sidecar/moving/place.ts';
import { applyWhole } from '#sidecar/moving/revision.ts';
import { testFolder } from '#support/test-folder.ts';

const ROWS = 4500;
const folder = testFolder();
let from: Engine;
let to: Engine;

const open = (name: string): Promise<Engine> =>
  openEngine({ provider: 'sqlite', file: join(folder, name), poolSize: 2 }, { log: () => undefined, now: Date.now });
const bounds = () => ({ deadline: performance.now() + 20_000 });

beforeAll(async () => {
  from = await open('from.sqlite');
  to = await open('to.sqlite');
});

afterAll(async () => {
  await from.close();
  await to.close();
});

async function declared(engine: Engine, namespace = 'game'): Promise<StoredSchema> {
  const columns = [
    { name: 'a', type: 'string', length: 20 },
    { name: 'b', type: 'int64' },
    { name: 'note', type: 'text', nullable: true },
  ];
  const { schema } = parseSchema({ tables: [{ name: 't', primaryKey: ['a', 'b'], columns }] });
  return applyWhole(engine, namespace, schema);
}

function tableOf(stored: StoredSchema) {
  const [table] = stored.schema.tables;
  if (table === undefined) throw new Error('no table');
  return tablePlace(stored, table);
}

/** A database whose connection breaks: before a write, after it, and in its middle where nothing undoes a part. */
function breaking(engine: Engine, faults: readonly (null | 'before' | 'half' | 'after')[]): Engine {
  const left = [...faults];
  const lost = new ApiError('database_timeout', 'the outcome is unknown');
  return new Proxy(engine, {
    get(target, name) {
      if (name !== 'write') {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      }
      const write: Engine['write'] = async (place, what, slot, limit) => {
        const fault = left.shift() ?? null;
        if (fault === 'before') throw lost;
        const part: Write =
          fault === 'half' && what.op === 'insert' ? { ...what, rows: what.rows.slice(0, what.rows.length / 2) } : what;
        const result = await target.write(place, part, slot, limit);
        if (fault !== null) throw lost;
        return result;
      };
      return write;
    },
  });
}

it('brings every row once, whatever became of a write whose answer was lost', async () => {
  const source = tableOf(await declared(from));
  const target = tableOf(await declared(to));
  // Few values in the first column, so that pages end between rows which share it.
  const rows = Array.from(
    { length: ROWS },
    (_, i) =>
      new Map<string, string | bigint>([
        ['a', `k${i % 3}`],
        ['b', BigInt(i) - 2000n],
      ]),
  );
  await from.write(source.target, { op: 'insert', rows }, null, bounds());
  let done = 0;
  const engines = { from, to: breaking(to, ['after', 'half', null, 'before', null, 'after']) };
  await copyRows(engines, { from: source, to: target }, (count) => {
    done += count;
  });
  expect(done).toBe(ROWS);
  const [here, there] = [await summarise(from, source, () => undefined), await summarise(to, target, () => undefined)];
  expect({ rows: there.rows, checksum: there.checksum }).toEqual({ rows: ROWS, checksum: here.checksum });
});

it('holds few long rows at a time, and reads few that do not fit', async () => {
  const source = tableOf(await declared(from, 'long'));
  const target = tableOf(await declared(to, 'long'));
  // Some are longer than a page, most are a fortieth of it.
  const lengths = Array.from({ length: 900 }, (_, i) => (i % 300 === 0 ? 400_000 : 3000));
  const rows = lengths.map(
    (length, i) =>
      new Map<string, string | bigint>([
        ['a', 'k'],
        ['b', BigInt(i)],
        ['note', 'n'.repeat(length)],
      ]),
  );
  await from.write(source.target, { op: 'insert', rows }, null, bounds());
  const [asked, written]: [number[], number[]] = [[], []];
  await copyRows(
    {
      from: watched(from, 'find', (_, { limit }) => asked.push(limit)),
      to: watched(to, 'write', (_, what) => written.push(what.op === 'insert' ? charsOf(what.rows) : 0)),
    },
    { from: source, to: target },
    () => undefined,
  );
  const [here, there] = [await summarise(from, source, () => undefined), await summarise(to, target, () => undefined)];
  expect({ rows: there.rows, checksum: there.checksum }).toEqual({ rows: lengths.length, checksum: here.checksum });
  expect(Math.max(...asked)).toBeLessThan(50);
  expect(Math.max(...written)).toBeLessThan(1_100_000);
  // A write waits for the disk.
  expect(written.length).toBeLessThan(8);
});

function charsOf(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + String(row.get('note')).length, 0);
}

function watched<N extends 'find' | 'write'>(engine: Engine, name: N, see: (...args: Parameters<Engine[N]>) => void) {
  return new Proxy(engine, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      return (...args: Parameters<Engine[N]>) => {
        if (member === name) see(...args);
        return Reflect.apply(value, target, args);
      };
    },
  });
}
