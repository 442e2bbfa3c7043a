import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '#panel/shapes/accounts.ts';
import type { RowAnswer, RowsAnswer } from '#panel/shapes/database.ts';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;
let api: SignedClient;

const PLAYERS = {
  name: 'players',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'name', type: 'string', length: 100 },
    { name: 'money', type: 'int64', default: 0 },
  ],
};
const HOSTILE = '<img src=x onerror=alert(1)>"\u202E\n';

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
  api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  await api.must('schema.sync', { namespace: 'game', schema: { tables: [PLAYERS] } });
  await api.must('insert', {
    namespace: 'game',
    table: 'players',
    rows: [
      { id: 1, name: HOSTILE },
      { id: 2, name: 'b' },
    ],
  });
});

afterAll(async () => {
  await api.close();
  await panel.stop();
});

const PLACE = { namespace: 'game', table: 'players' };
const rows = async () => (await owner.post<RowsAnswer>('/api/database/rows', PLACE)).body.rows;

describe('a body that is none', () => {
  it.each([
    ['/api/database/rows', { namespace: 'game' }],
    ['/api/database/rows', { ...PLACE, limit: 0 }],
    ['/api/database/rows', { ...PLACE, offset: -1 }],
    ['/api/database/rows', { ...PLACE, filter: { field: 'id' } }],
    ['/api/database/rows', { ...PLACE, sql: 'SELECT 1' }],
    ['/api/database/row', { ...PLACE, key: { id: 1 }, set: { name: '"x"' }, seen: { name: '"b"' } }],
    ['/api/database/row', { ...PLACE, key: { id: '2' }, set: { name: '"x"' } }],
    ['/api/database/dead-letters/discard', { ids: [] }],
    ['/api/database/dead-letters/discard', {}],
    ['/api/database/quarantine/purge', { ids: [] }],
    ['/api/database/quarantine/purge', { ids: ['1'] }],
    ['/api/database/quarantine/purge', { ids: [1.5] }],
  ])('is refused by %s: %j', async (path, body) => {
    const before = await rows();
    expect(await owner.post(path, body)).toMatchObject({ status: 400, body: { error: 'body.malformed' } });
    expect(await rows()).toEqual(before);
  });

  it('another action than those there are is no route', async () => {
    expect(await owner.post('/api/database/dead-letters/purge', { ids: ['x'] })).toMatchObject({ status: 404 });
    expect(await owner.post('/api/database/quarantine/discard', { ids: [1] })).toMatchObject({ status: 404 });
  });
});

describe('hostile JSON inside of a body', () => {
  it.each([
    '['.repeat(100_000),
    `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`,
    '{"__proto__":{"field":"id","op":"eq","value":1}}',
    '{"field":"id","field":"name","op":"eq","value":1}',
    '{"field":"id","op":"eq","value":1e999}',
    '{"field":"__proto__","op":"isNull"}',
    '{"field":"id","op":"constructor","value":1}',
    '"\\ud800"',
  ])('is a bad request as a filter: %#', async (filter) => {
    const answer = await owner.post('/api/database/rows', { ...PLACE, filter });
    expect(answer).toMatchObject({ status: 400, body: { error: 'database.request' } });
  });

  it('names of columns that are none, and values too deep or too large, change nothing', async () => {
    const before = await rows();
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const bodies = [
      '{"__proto__":"1"}',
      '{"constructor":"1"}',
      `{"name":${JSON.stringify(deep)}}`,
      '{"money":"1e999"}',
      '{"money":"9223372036854775808"}',
      '{"name":"\\"\\\\u0000\\""}',
    ];
    for (const set of bodies) {
      const seen = JSON.stringify({ name: '"b"', money: before[1]?.[2], __proto__: '1', constructor: '1' });
      const body = `{"namespace":"game","table":"players","key":{"id":"2"},"set":${set},"seen":${seen}}`;
      const headers = { 'content-type': 'application/json', 'x-csrf': owner.csrf };
      const { status } = await owner.raw({ method: 'POST', path: '/api/database/row', headers, body });
      expect([set, status]).toEqual([set, expect.toSatisfy((code: number) => code === 400 || code === 409)]);
    }
    expect(await rows()).toEqual(before);
  });
});

it('what players wrote arrives as it is, as text', async () => {
  expect((await rows())[0]).toEqual(['1', JSON.stringify(HOSTILE), '0']);
});

it('an account that may change rows and not read them gets back only what it named', async () => {
  const writer = await panel.account('writer', ['database.write']);
  expect(await writer.post('/api/database/rows', PLACE)).toMatchObject({ status: 403 });
  const change = { ...PLACE, key: { id: '2' }, set: { money: '7' }, seen: { money: '0' } };
  const { body } = await writer.post<RowAnswer>('/api/database/row', change);
  expect(body).toMatchObject({ before: { id: '2', money: '0' }, after: { id: '2', money: '7' }, changed: ['money'] });
  expect(Object.keys(body.before)).toEqual(['id', 'money']);
  expect((await rows())[1]).toEqual(['2', '"b"', '7']);
});

it('a change of a row stands in the audit log with its key, before and after; a preview without', async () => {
  const change = { ...PLACE, key: { id: '1' }, set: { name: '"a value"' }, seen: { name: JSON.stringify(HOSTILE) } };
  expect(await owner.post('/api/database/row', { ...change, preview: true })).toMatchObject({ status: 200 });
  expect(await owner.post('/api/database/row', change)).toMatchObject({ status: 200 });
  const newest = async (client: PanelClient) =>
    (await client.get<{ entries: AuditEntry[] }>('/api/audit?limit=2')).body.entries;
  const [done, preview] = await newest(owner);
  expect(done).toMatchObject({
    ...{ username: 'owner', action: 'database.row', subject: 'game.players id=1', result: 'ok' },
    changes: [{ name: 'name', before: JSON.stringify(HOSTILE), after: '"a value"' }],
  });
  expect(preview).toMatchObject({ action: 'database.row.preview', subject: 'game.players id=1', changes: [] });
  expect(panel.log.join('\n')).not.toContain('a value');
  // Values of rows are for accounts that may read rows.
  const manager = await panel.account('manager', ['users.manage']);
  expect(JSON.stringify(await newest(manager))).not.toContain('a value');
});

it('the audit log is read by person, and refuses a name that is none', async () => {
  const { body } = await owner.get<{ entries: AuditEntry[]; usernames: string[] }>('/api/audit?username=owner&limit=5');
  expect(new Set(body.entries.map(({ username }) => username))).toEqual(new Set(['owner']));
  expect(body.usernames).toContain('owner');
  const long = await owner.get(`/api/audit?username=${'x'.repeat(40)}`);
  expect(long).toMatchObject({ status: 400, body: { field: 'username' } });
});
