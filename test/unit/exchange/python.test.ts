import { spawnSync } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { providePython } from '#scripts/servers/python-program.ts';
import { runRows } from '#sidecar/commands/rows.ts';
import { copyIo } from '#support/copy-io.ts';
import { LEDGER, LEDGER_LINES } from '#support/ledger-table.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';

/** The module `csv` of Python on the other side: it reads what an export wrote, and an import takes what it writes. */

/** Values as a Python program has them; `None` and the empty text are told apart by `NULL` alone. */
const WRITER = `
import csv, decimal, io, sys
rows = [
  [9223372036854775807, "007", decimal.Decimal("123456789012345678901234567890.1234"), 0.1, True],
  [-9007199254740993, 'quotes " and "" more', decimal.Decimal("-0.0001"), 1e300, False],
  [3, "two\\nlines, one\\r\\nof Windows", decimal.Decimal("1"), -2.5, None],
  [4, "=1+1", None, 5e-324, None],
  [5, "Grüße, 日本 🎲", None, None, None],
  [6, " spaces ", None, None, None],
]
options = eval(sys.argv[1])
rows = [["NULL" if value is None else value for value in row] for row in rows]
text = io.StringIO(newline="")
writer = csv.writer(text, **options)
writer.writerow(["id", "name", "money", "speed", "alive"])
writer.writerows(rows)
sys.stdout.buffer.write(text.getvalue().encode(sys.argv[2]))
`;
const WRITTEN_TABLE = { ...LEDGER, columns: LEDGER.columns.slice(0, 5) };
const WRITTEN = [
  '{"id":-9007199254740993,"name":"quotes \\" and \\"\\" more","money":-0.0001,"speed":1e+300,"alive":false}',
  '{"id":3,"name":"two\\nlines, one\\r\\nof Windows","money":1,"speed":-2.5,"alive":null}',
  '{"id":4,"name":"=1+1","money":null,"speed":5e-324,"alive":null}',
  '{"id":5,"name":"Grüße, 日本 🎲","money":null,"speed":null,"alive":null}',
  '{"id":6,"name":" spaces ","money":null,"speed":null,"alive":null}',
  '{"id":9223372036854775807,"name":"007","money":123456789012345678901234567890.1234,"speed":0.1,"alive":true}',
];

/** Reads a file and writes it again; the names and the texts go to the standard error. */
const READER = `
import csv, io, json, sys
text = io.StringIO(sys.stdin.buffer.read().decode("utf-8"), newline="")
rows = list(csv.reader(text, strict=True))
again = io.StringIO(newline="")
csv.writer(again).writerows(rows)
print(json.dumps([row[:3] for row in rows], ensure_ascii=False), file=sys.stderr)
sys.stdout.buffer.write(again.getvalue().encode("utf-8"))
`;

const why = await providePython().then(
  () => null,
  (error: Error) => error.message,
);
if (why === null) defineCases();
// The closing list of a run names it too (`untested-kinds.ts`).
else it('is not tested here', () => console.log(why));

function defineCases(): void {
  let sidecar: TestSidecar;
  let python = '';
  beforeAll(async () => {
    [sidecar, python] = [await startSidecar(), await providePython()];
  });
  afterAll(() => sidecar.stop());

  function runPython(program: string, args: readonly string[], input: Buffer | string = ''): [Buffer, string] {
    const env = { PATH: `${process.env.PATH}`, PYTHONIOENCODING: 'utf-8' };
    const { status, stdout, stderr } = spawnSync(python, ['-c', program, ...args], { input, env });
    if (status !== 0) throw new Error(stderr.toString());
    return [stdout, stderr.toString()];
  }

  async function rows(
    action: string,
    namespace: string,
    options: readonly string[],
    given: Buffer | string = '',
    table: object = WRITTEN_TABLE,
  ) {
    await sidecar.client.must('schema.sync', { namespace, schema: { tables: [table] } });
    const { io, errors } = copyIo();
    const words = [action, '--namespace', namespace, '--table', 'ledger', '--config', sidecar.configFile, ...options];
    const output = new PassThrough();
    const written = buffer(output);
    const isDone = await runRows(words, io, {
      input: Readable.from([given]),
      output: output as unknown as PassThrough,
    });
    output.end();
    return { isDone, errors, written: await written };
  }

  it('reads an export, and writes the same bytes again', async () => {
    await rows('import', 'ours', ['--format', 'jsonl'], LEDGER_LINES, LEDGER);
    const { written } = await rows('export', 'ours', ['--format', 'csv', '--null', 'NULL'], '', LEDGER);
    const [again, cells] = runPython(READER, [], written);
    expect(again.equals(written)).toBe(true);
    expect(JSON.parse(cells)).toEqual([
      ['id', 'name', 'money'],
      ['3', '3-4', '1'],
      ['4', '=1+1', 'NULL'],
      ['5', 'Grüße, "Zoë" 日本 🎲', 'NULL'],
      ['6', 'two\nlines; and, marks', '0.5'],
      ['7', '', 'NULL'],
      ['8', ' spaces ', 'NULL'],
      ['9', 'TRUE', 'NULL'],
      ['9007199254740993', '1e5', '-0.0001'],
      ['9223372036854775807', '007', '123456789012345678901234567890.1234'],
    ]);
  });

  it.each([
    ['excel', '{"dialect": "excel"}', 'utf-8'],
    ['excel_marked', '{"dialect": "excel"}', 'utf-8-sig'],
    ['unix', '{"dialect": "unix"}', 'utf-8'],
    ['nonnumeric', '{"quoting": csv.QUOTE_NONNUMERIC, "lineterminator": "\\n"}', 'utf-8-sig'],
    ['all', '{"quoting": csv.QUOTE_ALL}', 'utf-8'],
  ])('an import takes what it writes: %s', async (namespace, options, encoding) => {
    const [file] = runPython(WRITER, [options, encoding]);
    const { isDone, errors } = await rows('import', namespace, ['--format', 'csv', '--null', 'NULL'], file);
    expect([isDone, errors]).toEqual([true, []]);
    const { text } = await sidecar.client.call('find', { namespace, table: 'ledger' });
    expect(text).toBe(`{"rows":[${WRITTEN.join(',')}],"hasMore":false}`);
  });

  it.each([
    ['tabs', '{"dialect": "excel-tab"}', 'utf-8', /^header: fields are separated by tabs: save the file with commas/],
    ['semicolons', '{"delimiter": ";"}', 'utf-8-sig', /^header: fields are separated by semicolons: save the file/],
  ])('an import refuses %s, and says what to set', async (namespace, options, encoding, message) => {
    const [file] = runPython(WRITER, [options, encoding]);
    await expect(rows('import', namespace, ['--format', 'csv'], file)).rejects.toThrow(message);
  });

  it('an import refuses quotes behind a backslash, and names the line', async () => {
    const [file] = runPython(WRITER, ['{"doublequote": False, "escapechar": "\\\\"}', 'utf-8']);
    const { isDone, errors } = await rows('import', 'escaped', ['--format', 'csv', '--null', 'NULL'], file);
    expect(isDone).toBe(false);
    expect(errors[0]).toMatch(/^line 3: this is no CSV/);
  });
}
