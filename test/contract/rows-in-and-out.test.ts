import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runRows } from '#sidecar/commands/rows.ts';
import { copyIo } from '../support/copy-io.ts';
import { unique } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';
import { PATIENT, useSidecar } from './data-world.ts';

/** `rows export` and `rows import` beside a running sidecar. */

const world = useSidecar({ config: PATIENT });

const COLUMNS = [
  { name: 'id', type: 'int64', autoIncrement: true },
  { name: 'name', type: 'string', length: 60, nullable: true },
  { name: 'code', type: 'string', length: 20, nullable: true, unique: true },
  { name: 'notes', type: 'text', nullable: true },
  { name: 'money', type: 'decimal', precision: 34, scale: 4, nullable: true },
  { name: 'speed', type: 'float64', nullable: true },
  { name: 'alive', type: 'bool', nullable: true },
  { name: 'data', type: 'json', nullable: true },
  { name: 'seen', type: 'datetime', nullable: true },
  { name: 'born', type: 'date', nullable: true },
  { name: 'token', type: 'uuid', nullable: true },
  { name: 'picture', type: 'bytes', nullable: true },
];
const PEOPLE = { name: 'people', primaryKey: ['id'], columns: COLUMNS };
/** Without a primary key: nothing but the import itself keeps a row from coming twice. */
const LINES = { name: 'lines', columns: [{ name: 'line', type: 'string', length: 100, nullable: true }] };

async function declared(...tables: object[]): Promise<string> {
  const namespace = unique('rows');
  const { ok, message } = await world.client.call('schema.sync', { namespace, schema: { tables } });
  expect(message).toBe('');
  expect(ok).toBe(true);
  return namespace;
}

/** All rows as JSON text, digit for digit, in the order of the key. */
async function rowsIn(namespace: string, table: string): Promise<string> {
  const { text: found, message } = await world.client.call('find', { namespace, table, limit: 1000 });
  expect(message).toBe('');
  return found;
}

interface Run {
  readonly isDone: boolean;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
}

async function rows(words: readonly string[], input: Readable = Readable.from([])): Promise<Run & { out: string }> {
  const { io, lines, errors } = copyIo();
  const output = new PassThrough();
  const written = text(output);
  const args = [...words, '--config', world.sidecar.configFile];
  try {
    const isDone = await runRows(args, io, { input, output });
    output.end();
    return { isDone, lines, errors, out: await written };
  } finally {
    output.end();
  }
}

const of = (namespace: string, table: string): string[] => ['--namespace', namespace, '--table', table];

const wide = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((s) => s.isWellFormed() && !s.includes('\0') && [...s].length <= 20);
const hard = fc.oneof(
  wide,
  fc.constantFrom('', ' ', '"', ',', '\r', '\n', '\r\n', "'", '=1+1', '-5', 'NULL', '\uFEFF', '\u2028', ' a ', '"",""'),
);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((n) => `${n}.${n % 7n === 0n ? '0001' : '5'}`);
const person = fc.record({
  name: maybe(hard),
  notes: maybe(hard),
  money: maybe(digits),
  speed: maybe(fc.double({ noNaN: true, noDefaultInfinity: true })),
  alive: maybe(fc.boolean()),
  data: maybe(fc.constantFrom<unknown>({ a: [1, 'x,"y"', null] }, 'a text', 7, false, [])),
  seen: maybe(fc.constantFrom('2026-03-29T01:30:00.123Z', '0001-01-01T00:00:00.000Z')),
  born: maybe(fc.constant('2024-02-29')),
  token: maybe(fc.uuid()),
  picture: maybe(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64'))),
});

it.each([
  ['csv', []],
  ['csv', ['--null', '\\N']],
  ['jsonl', []],
])('carries every value out and in again as %s %j', async (format, options) => {
  await fc.assert(
    fc.asyncProperty(fc.array(person, { minLength: 1, maxLength: 20 }), async (people) => {
      const from = await declared(PEOPLE);
      const to = await declared(PEOPLE);
      const inserted = await world.client.call('insert', { namespace: from, table: 'people', rows: people });
      expect(inserted.message).toBe('');
      const out = await rows(['export', ...of(from, 'people'), '--format', format, ...options]);
      expect(out.errors).toEqual([`exported ${people.length} rows of ${from}.people`]);
      const back = await rows(
        ['import', ...of(to, 'people'), '--format', format, ...options],
        Readable.from([out.out]),
      );
      expect([back.errors, back.lines]).toEqual([[], [`imported ${people.length} rows into ${to}.people`]]);
      expect(await rowsIn(to, 'people')).toBe(await rowsIn(from, 'people'));
    }),
    { numRuns: 4 },
  );
});

it('writes RFC 4180, by a filter, into a file that only the owner reads', async () => {
  const namespace = await declared(LINES);
  const texts = ['a', '', null, 'b,"c"', 'd\ne', 'f\rg'];
  await world.client.call('insert', { namespace, table: 'lines', rows: texts.map((line) => ({ line })) });
  const file = join(testFolder(), 'lines.csv');
  const filter = JSON.stringify({ not: { field: 'line', op: 'eq', value: 'a' } });
  await rows(['export', ...of(namespace, 'lines'), '--file', file, '--filter', filter]);
  expect(readFileSync(file, 'utf8')).toBe('line\r\n""\r\n"b,""c"""\r\n"d\ne"\r\n"f\rg"\r\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await expect(rows(['export', ...of(namespace, 'lines'), '--file', file])).rejects.toThrow('exists already');
  const all = await rows(['export', ...of(namespace, 'lines'), '--format', 'csv']);
  expect(all.out.split('\r\n')[3]).toBe('');
});

it('puts an apostrophe before what a spreadsheet would run, and says so', async () => {
  const namespace = await declared(PEOPLE);
  const people = [{ name: '=cmd()', notes: '@x', money: '-5' }, { name: 'plain' }];
  await world.client.call('insert', { namespace, table: 'people', rows: people });
  const { out, errors } = await rows(['export', ...of(namespace, 'people'), '--format', 'csv', '--escape-formulas']);
  expect(out).toContain(",'=cmd(),");
  expect(out).toContain(",'@x,-5,");
  expect(errors[1]).toContain("2 texts got a ' before them");
});

it('refuses a text that --null would turn into NULL', async () => {
  const namespace = await declared(LINES);
  await world.client.call('insert', { namespace, table: 'lines', rows: [{ line: 'NULL' }] });
  const file = join(testFolder(), 'lines.csv');
  const words = ['export', ...of(namespace, 'lines'), '--file', file, '--null', 'NULL'];
  await expect(rows(words)).rejects.toThrow('choose another --null');
  expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
});

it('lists every line that does not fit, and writes nothing then', async () => {
  const namespace = await declared(PEOPLE);
  await world.client.call('insert', { namespace, table: 'people', rows: [{ id: 7, code: 'taken' }] });
  const before = await rowsIn(namespace, 'people');
  const file = [
    'id,code,money,born,alive',
    '1,a,12.50,2024-02-29,TRUE',
    '2,b,twelve,2024-02-29,true',
    '3,a,1,2024-02-30,true',
    '4,c,1',
    '7,taken,1,2024-02-29,false',
    '5,d,1,2024-02-29,yes',
    '1,e,1,2024-02-29,true',
    ',f,1,2024-02-29,false',
  ].join('\n');
  const { isDone, errors } = await rows(
    ['import', ...of(namespace, 'people'), '--format', 'csv'],
    Readable.from([file]),
  );
  expect(isDone).toBe(false);
  expect(errors.map((line) => line.replace(/(expected [^,;]*).*/, '$1'))).toEqual([
    'line 3: money: expected a number or a numeric string',
    'line 4: born: expected a day that exists',
    'line 5: expected 5 fields',
    'line 6: id: the table has this row already',
    'line 6: code: the table has this row already',
    'line 7: alive: expected true or false',
    'line 8: id: the same as in line 2',
    'nothing was imported: 6 lines do not fit; correct the file and run the same command again',
  ]);
  expect(await rowsIn(namespace, 'people')).toBe(before);
});

it.each([
  ['an unknown column', 'id,nme\n1,x\n', 'no column "nme"; it has id, name'],
  ['a column twice', 'id,name,id\n1,x,2\n', 'the column id stands there twice'],
  ['nothing', '', 'the file is empty'],
])('refuses a header with %s', async (_what, file, reason) => {
  const namespace = await declared(PEOPLE);
  const words = ['import', ...of(namespace, 'people'), '--format', 'csv'];
  await expect(rows(words, Readable.from([file]))).rejects.toThrow(reason);
});

it('refuses text that is no UTF-8, and CSV whose quotes do not end', async () => {
  const namespace = await declared(LINES);
  const words = ['import', ...of(namespace, 'lines'), '--format', 'csv'];
  await expect(rows(words, Readable.from([Buffer.from('line\nZo\xeb\n', 'latin1')]))).rejects.toThrow('no UTF-8');
  const { isDone, errors } = await rows(words, Readable.from(['line\n"a\nb\n']));
  expect([isDone, errors[0]]).toEqual([false, expect.stringContaining('this is no CSV')]);
});

it('reads what spreadsheets write: a mark, semicolon-free lines, capitals, empty lines at the end', async () => {
  const namespace = await declared(PEOPLE);
  const file = '\uFEFFname,alive\r\n"Zoë, the first",FALSE\r\n\r\n';
  await rows(['import', ...of(namespace, 'people'), '--format', 'csv'], Readable.from([file]));
  const { result } = await world.client.call('find', { namespace, table: 'people', fields: ['name', 'alive'] });
  expect(result.rows).toEqual([{ name: 'Zoë, the first', alive: false }]);
});

it('goes on after a cut without a row twice, also in a table without a key', async () => {
  const namespace = await declared(LINES);
  const file = join(testFolder(), 'lines.jsonl');
  const count = 2345;
  writeFileSync(file, Array.from({ length: count }, (_, i) => `{"line":"${i}"}\n`).join(''));
  const words = ['import', ...of(namespace, 'lines'), '--file', file, '--config', world.sidecar.configFile];
  const cut = copyIo();
  let written = 0;
  const advance = cut.io.report.advance.bind(cut.io.report);
  let isWriting = false;
  cut.onBegin((label) => {
    isWriting = label.startsWith('imports');
  });
  cut.io.report.advance = (n) => {
    advance(n);
    if (isWriting) written += n;
    if (written >= 1000) cut.ending.abort(new Error('cut'));
  };
  await expect(runRows(words, cut.io)).rejects.toThrow('cut');
  const { result } = await world.client.call('count', { namespace, table: 'lines' });
  expect(result.count).toBe(1000);
  const again = copyIo();
  expect(await runRows(words, again.io)).toBe(true);
  expect(again.lines).toEqual([
    `goes on: 1,000 rows are in ${namespace}.lines already`,
    `imported 2,345 rows into ${namespace}.lines`,
  ]);
  expect((await world.client.call('count', { namespace, table: 'lines' })).result.count).toBe(count);
  // An import that has ended is over: the same file is another import then.
  expect(await runRows(words, copyIo().io)).toBe(true);
  expect((await world.client.call('count', { namespace, table: 'lines' })).result.count).toBe(2 * count);
});

it('names each wrong argument', async () => {
  const namespace = await declared(LINES);
  const at = of(namespace, 'lines');
  for (const [words, reason] of [
    [['list', ...at], 'expected: rows export, or rows import'],
    [['export', '--table', 'lines', '--format', 'csv'], '--namespace'],
    [['export', ...at], '--format expects csv or jsonl'],
    [['export', ...at, '--format', 'jsonl', '--null', 'x'], 'for CSV alone'],
    [['import', ...at, '--format', 'csv', '--filter', '{}'], 'for export alone'],
    [['export', ...at, '--format', 'csv', '--filter', '{'], '--filter expects JSON'],
    [['export', ...at, '--format', 'csv', '--filter', '{"field":"nope","op":"eq","value":1}'], 'nope'],
    [['import', ...at, '--file', '/nowhere/x.csv'], '--file: '],
    [['import', ...at, '--format', 'csv', '--file', '/'], '--file: / is a folder, not a file: name a file in it'],
    [['export', ...of(namespace, 'nothing'), '--format', 'csv'], 'nothing'],
  ] as const) {
    await expect(rows(words), words.join(' ')).rejects.toThrow(reason);
  }
});
