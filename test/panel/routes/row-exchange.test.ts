import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const BIG = '9007199254740993';
const BOUNDARY = 'boundary-of-the-test';
const PLACE = { namespace: 'game', table: 'players' };
let panel: TestPanel;
let owner: PanelClient;
let api: SignedClient;

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
  api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string', length: 20, nullable: true },
  ];
  const schema = { tables: [{ name: 'players', primaryKey: ['id'], columns }] };
  await api.must('schema.sync', { namespace: 'game', schema });
  await api.must('insert', `{"namespace":"game","table":"players","rows":[{"id":1,"name":"=1+1"},{"id":${BIG}}]}`);
});

afterAll(async () => {
  await api.close();
  await panel.stop();
});

async function exported(changes: object, client = owner): Promise<string> {
  const { body } = await client.post<{ download: string }>('/api/database/export', {
    ...{ ...PLACE, format: 'csv' },
    ...changes,
  });
  return (await client.get(`/api/database/export/${body.download}`)).text;
}

const imported = (text: string, query = 'namespace=game&table=players&format=csv', client = owner) =>
  client.raw<{ rows: number; refused: number; refusals: { line: number; reason: string }[]; error?: string }>({
    ...{ method: 'POST', path: `/api/database/import?${query}` },
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'x-csrf': client.csrf },
    body: Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${text}\r\n--${BOUNDARY}--\r\n`,
    ),
  });

describe('rows of a table', () => {
  it('leave as CSV and JSON lines, exactly', async () => {
    expect(await exported({})).toBe(`id,name\r\n1,=1+1\r\n${BIG},\r\n`);
    expect(await exported({ escapeFormulas: true })).toContain("'=1+1");
    expect(await exported({ format: 'jsonl' })).toContain(`{"id":${BIG},"name":null}`);
    const filter = JSON.stringify({ field: 'id', op: 'eq', value: 1 });
    expect(await exported({ filter })).toBe('id,name\r\n1,=1+1\r\n');
    const byBigId = `{"field":"id","op":"eq","value":${BIG}}`;
    expect(await exported({ filter: byBigId })).toBe(`id,name\r\n${BIG},\r\n`);
  });

  it('leave once for each press, and to the account that pressed', async () => {
    const { body } = await owner.post<{ download: string }>('/api/database/export', { ...PLACE, format: 'csv' });
    const reader = await panel.account('reader', ['database.read']);
    const path = `/api/database/export/${body.download}`;
    expect(await reader.get(path)).toMatchObject({ status: 404 });
    expect(await owner.get(path)).toMatchObject({ status: 200 });
    expect(await owner.get(path)).toMatchObject({ status: 404 });
    expect(await imported('id\n9\n', undefined, reader)).toMatchObject({ status: 403 });
  });

  it.each([
    ['an unknown table', { table: 'nobody' }, 404],
    ['a filter that is none', { filter: '[]' }, 400],
    ['a filter of an unknown column', { filter: JSON.stringify({ field: 'x', op: 'eq', value: 1 }) }, 400],
  ])('do not leave for %s: the press is refused already', async (_name, changes, status) => {
    const asked = await owner.post('/api/database/export', { ...PLACE, format: 'csv', ...changes });
    expect(asked).toMatchObject({ status, body: { ok: false } });
  });

  it('come in whole, or not at all with the lines that do not fit', async () => {
    const refused = await imported('id,name\n5,five\n1,twice\nx,no number\n');
    expect(refused).toMatchObject({ status: 200, body: { rows: 0, refused: 2 } });
    expect(refused.body.refusals.map(({ line }) => line)).toEqual([3, 4]);
    expect(await exported({})).not.toContain('five');
    expect(await imported('id,name\n5,five\n6,\n')).toMatchObject({ status: 200, body: { rows: 2, refused: 0 } });
    expect(await exported({})).toContain('5,five\r\n6,\r\n');
  });

  it('do not come in as another format, or into a table that is not there', async () => {
    expect(await imported('id\n7\n', 'namespace=game&table=players&format=xml')).toMatchObject({ status: 400 });
    expect(await imported('id\n7\n', 'namespace=game&table=nobody&format=csv')).toMatchObject({ status: 404 });
    expect(await imported('nothing\n7\n')).toMatchObject({ status: 400, body: { error: 'database.request' } });
  });
});
