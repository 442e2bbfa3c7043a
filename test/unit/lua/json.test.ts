import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { LuaScript, whyNoLua } from '#support/lua-script.ts';

const HELPER = join(fileURLToPath(new URL('../../..', import.meta.url)), 'dist/db_connector/helper.lua');
const reason = await whyNoLua();

/** Value as Lua keeps it: a property that is null is none, and a list ends with its last value. */
function inLua(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = value.map(inLua);
    while (list.length > 0 && list.at(-1) === null) list.pop();
    return list;
  }
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, inLua(member)]));
}

/** Integers and numbers that JSON.parse reads exactly, in every size. */
const number = fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 12 }));
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    number,
    text,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      text.filter((name) => name !== '__proto__'),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value;
/** Rows of one shape, which are read another way. */
const rows = fc
  .uniqueArray(fc.stringMatching(/^[a-z_]{1,8}$/), { minLength: 1, maxLength: 6 })
  .chain((names) =>
    fc.array(
      fc.record(
        Object.fromEntries(names.map((name) => [name, fc.oneof(number, text, fc.boolean(), fc.constant(null))])),
      ),
      { minLength: 2, maxLength: 8 },
    ),
  );

describeIf(reason, 'JSON in helper.lua', { timeout: 120_000 }, () => {
  let lua: LuaScript;
  beforeAll(async () => {
    lua = await LuaScript.start([HELPER]);
  });
  afterAll(() => lua.close());

  /** Through the readers and back through the writer: what each text holds, as text. */
  const there = `local texts = {}
    for index, text in ipairs(...) do
      local rows = DB.Rows({ State = 'ok', Json = '{"rows":[' .. text .. ']}' })
      texts[index] = rows[1] == nil and 'null' or Q.Row({ value = rows[1] })
    end
    return texts`;

  it('reads what JavaScript writes, and writes what JavaScript reads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(0, 1),
        async (values, indent) => {
          const back = await lua.run<string[]>(
            there,
            values.map((value) => JSON.stringify(value, null, indent)),
          );
          const read = back.map((one) =>
            one === 'null' ? null : inLua((JSON.parse(one) as { value: unknown }).value),
          );
          expect(read).toEqual(values.map(inLua));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('reads lists of rows of one shape as it reads others', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const back = await lua.run<string>(
          `return Q.Row({ rows = DB.Rows({ State = 'ok', Json = ... }) })`,
          JSON.stringify({ rows: given }),
        );
        expect((JSON.parse(back) as { rows: unknown }).rows).toEqual(given.map(inLua));
      }),
      { numRuns: 150 },
    );
  });

  it('refuses what is no JSON', async () => {
    const broken = fc
      .tuple(json, fc.nat(), fc.constantFrom(...'{}[]",:0123456789eE+-.\\ untf\u0007'), fc.boolean())
      .map(([value, at, char, replaces]) => {
        const whole = `{"rows":[${JSON.stringify(value)},1]}`;
        const place = at % whole.length;
        return `${whole.slice(0, place)}${char}${whole.slice(replaces ? place + 1 : place)}`;
      })
      .filter((whole) => whole.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(broken, { minLength: 1, maxLength: 20 }), async (texts) => {
        const counts = await lua.run<boolean[]>(
          `local are = {}
           for index, text in ipairs(...) do are[index] = next(DB.Rows({ State = 'ok', Json = text })) ~= nil end
           return are`,
          texts,
        );
        expect(counts).toEqual(texts.map(isRead));
      }),
      { numRuns: 150 },
    );
  });

  /** As JavaScript reads it, less what Lua's strings cannot hold. */
  function isRead(whole: string): boolean {
    try {
      const read = JSON.parse(whole) as { rows?: unknown };
      return (
        JSON.stringify(read).match(/\\ud[89a-f]/) === null &&
        Array.isArray(read?.rows) &&
        (inLua(read.rows) as unknown[]).length > 0
      );
    } catch {
      return false;
    }
  }

  it('keeps every digit of integers of 64 bits', async () => {
    const integers = fc.array(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(integers, async (given) => {
        const back = await lua.run<string>(
          `local rows = DB.Rows({ State = 'ok', Json = '{"rows":[' .. ... .. ']}' })
           for _, one in ipairs(rows) do assert(math.type(one.n) == 'integer') end
           return Q.Row({ rows = rows })`,
          given.map((one) => `{"n":${one}}`).join(','),
        );
        expect([...back.matchAll(/-?\d+/g)].map(([digits]) => BigInt(digits))).toEqual(given);
      }),
    );
  });

  it('gives decimals that a float would change as text, and all others as numbers', async () => {
    const kinds = await lua.run<[string, unknown][]>(
      `local kinds = {}
       for index, row in ipairs(DB.Rows({ State = 'ok', Json = ... })) do kinds[index] = { math.type(row.n) or type(row.n), row.n } end
       return kinds`,
      `{"rows":[{"n":1.25},{"n":1234567890123.45},{"n":12345678901234567.89},{"n":0.1234567890123456789},{"n":9223372036854775808},
        {"n":0.30000000000000004},{"n":5.684341886080802e-14},{"n":5e-324},{"n":1.7976931348623157e308},{"n":-0},{"n":100},{"n":1e2}]}`,
    );
    expect(kinds).toEqual([
      ['float', 1.25],
      ['float', 1234567890123.45],
      ['string', '12345678901234567.89'],
      ['string', '0.1234567890123456789'],
      ['string', '9223372036854775808'],
      ['float', 0.30000000000000004],
      ['float', Number('5.684341886080802e-14')],
      ['float', 5e-324],
      ['float', 1.7976931348623157e308],
      ['integer', 0],
      ['integer', 100],
      ['float', 100],
    ]);
  });

  it('writes what Lua has values of its own for', async () => {
    const written = await lua.run<string>(
      `return Q.Row({
         list = {}, object = Q.Object(), null = Q.Null, holes = { 1, nil, 3 }, slots = Q.Object({ [5] = 'bread' }),
         where = vector3(1.5, 2, -3), digits = Q.Number('123.4500'), whole = 10 / 2, tiny = 0.1, big = math.mininteger,
         text = 'a"b\\\\c\\n\\0', marked = setmetatable({}, { __jsontype = 'object' }),
       })`,
    );
    expect(written).toContain('"digits":123.4500');
    expect(written).toContain('"big":-9223372036854775808');
    const { big: _, ...rest } = JSON.parse(written) as Record<string, unknown>;
    expect(rest).toEqual({
      list: [],
      object: {},
      null: null,
      holes: [1, null, 3],
      slots: { 5: 'bread' },
      where: { x: 1.5, y: 2, z: -3 },
      digits: 123.45,
      whole: 5,
      tiny: 0.1,
      text: 'a"b\\c\n\0',
      marked: {},
    });
  });

  it.each([
    ['{ a = 0/0 }', 'Q.Row.a: '],
    ['{ a = 1/0 }', 'Q.Row.a: inf is no number that can be stored'],
    ['{ a = { b = print } }', 'Q.Row.a.b: a function cannot be stored'],
    ["{ a = { 1, '\\xff' } }", 'Q.Row.a[2]: text that is no valid UTF-8'],
    ['{ a = { 1, x = 2 } }', 'Q.Row.a: a table with both names and numbers as keys'],
    ['{ a = { [76561198000000000] = 1 } }', 'Q.Row.a: a list of 1 values that goes up to the number 76561198000000000'],
    ['(function() local ring = {} ring.ring = ring return ring end)()', 'too deep, or it contains itself'],
  ])('refuses %s and names the place', async (code, message) => {
    const problem = await lua.run<string>(`local _, problem = pcall(Q.Row, ${code}) return tostring(problem)`);
    expect(problem).toContain(message);
  });
});
