import { readFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runRows } from '#sidecar/commands/rows.ts';
import { copyIo } from '#support/copy-io.ts';
import { LEDGER, LEDGER_LINES } from '#support/ledger-table.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';

/** Files that LibreOffice Calc saved (`test/fixtures/calc/README.md`): as exact as they came, or refused. */

let sidecar: TestSidecar;
beforeAll(async () => {
  sidecar = await startSidecar();
});
afterAll(() => sidecar.stop());

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/calc/${name}.csv`, import.meta.url), 'utf8');

async function imported(namespace: string, content: string, ...options: string[]) {
  await sidecar.client.must('schema.sync', { namespace, schema: { tables: [LEDGER] } });
  const { io, errors } = copyIo();
  const words = ['import', '--namespace', namespace, '--table', 'ledger', '--config', sidecar.configFile, ...options];
  const streams = { input: Readable.from([content]), output: new PassThrough() };
  const isDone = await runRows(words, io, streams);
  const { text } = await sidecar.client.call('find', { namespace, table: 'ledger' });
  return { isDone, errors, text };
}

const CSV = ['--format', 'csv', '--null', 'NULL'];

it.each([
  ['our own export', 'exported', ''],
  ['with every column as text', 'text', ''],
  ['with every text in quotes', 'text-quoted', ''],
  ['with a byte order mark', 'text', '\uFEFF'],
])('takes a file %s without losing a digit', async (_name, name, mark) => {
  const original = await imported('original', LEDGER_LINES, '--format', 'jsonl').catch(() => null);
  const { text } = original ?? (await sidecar.client.call('find', { namespace: 'original', table: 'ledger' }));
  for (const exact of [
    '9223372036854775807',
    '9007199254740993',
    '"money":123456789012345678901234567890.1234',
    '"007"',
  ])
    expect(text).toContain(exact);
  const namespace = `calc_${name.replace('-', '_')}${mark === '' ? '' : '_marked'}`;
  expect(await imported(namespace, mark + fixture(name), ...CSV)).toEqual({ isDone: true, errors: [], text });
});

it('refuses a file in which Calc has cut digits, line by line', async () => {
  const { isDone, errors, text } = await imported('cut', fixture('default'), ...CSV);
  expect([isDone, text]).toEqual([false, '{"rows":[],"hasMore":false}']);
  expect(errors).toEqual([
    expect.stringMatching(/^line 10: id: expected all digits, got an exponent: a spreadsheet has cut the number/),
    expect.stringMatching(/^line 11: id: expected all digits, got an exponent: a spreadsheet has cut the number/),
    expect.stringContaining('nothing was imported: 2 lines do not fit'),
  ]);
});

it('refuses semicolons, as a German locale saves, and says what to set', async () => {
  await expect(imported('german', fixture('german'), ...CSV)).rejects.toThrow(
    'header: fields are separated by semicolons: save the file with commas, and with decimal points',
  );
});

it('names the line at which a file is no CSV', async () => {
  const { isDone, errors } = await imported('broken', 'id,name\n1,a\n2,b"c\n', ...CSV);
  expect(isDone).toBe(false);
  expect(errors[0]).toMatch(/^line 3: this is no CSV/);
});
