import { existsSync, readdirSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '#panel/http/route.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const BOUNDARY = 'boundary-of-the-test';
const PATH = '/api/database/import';
const QUERY = 'namespace=game&table=players&format=csv';
let panel: TestPanel;
let owner: PanelClient;
/** Holds the one permission that an import needs. */
let writer: PanelClient;
let api: SignedClient;
/** Others with the same permission. A panel takes ten sign-ins of an address. */
let others: PanelClient[];

interface Imported {
  readonly rows: number;
  readonly refused: number;
  readonly error?: string;
  readonly field?: string;
  readonly detail?: string;
}

const HEAD = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;
const headersOf = (client: PanelClient) => ({
  'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
  'x-csrf': client.csrf,
});

function send(body: string | Buffer, { client = writer, query = QUERY, headers = {} } = {}) {
  return client.raw<Imported>({
    ...{ method: 'POST', path: `${PATH}?${query}`, body },
    headers: { ...headersOf(client), ...headers },
  });
}

const imported = (text: string, options: Parameters<typeof send>[1] = {}) => send(`${HEAD}${text}${TAIL}`, options);

/** A body that has begun and waits. */
function begun(client: PanelClient, text: string) {
  const [body, whole] = [new PassThrough(), Buffer.from(`${HEAD}${text}${TAIL}`)];
  const before = arriving().length;
  const headers = { ...headersOf(client), 'content-length': String(whole.length) };
  const answer = client.raw<Imported>({ method: 'POST', path: `${PATH}?${QUERY}`, body, headers });
  body.write(whole.subarray(0, HEAD.length + 1));
  return {
    arrives: () => expect.poll(() => arriving().length).toBe(before + 1),
    end: () => void body.end(whole.subarray(HEAD.length + 1)),
    answer,
  };
}

function arriving(): string[] {
  const folder = join(panel.folder, 'data/row-imports');
  return existsSync(folder) ? readdirSync(folder) : [];
}

const sizes = () => arriving().map((name) => statSync(join(panel.folder, 'data/row-imports', name)).size);

const ids = async () => {
  const found = await api.must('find', { namespace: 'game', table: 'players', sort: [{ field: 'id' }] });
  return (found.rows as { id: number }[]).map(({ id }) => id);
};

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
  writer = await panel.account('writer', ['database.write']);
  others = [];
  for (const name of ['ann', 'bob', 'cid']) others.push(await panel.account(name, ['database.write']));
  api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string', length: 20, nullable: true },
  ];
  await api.must('schema.sync', {
    namespace: 'game',
    schema: { tables: [{ name: 'players', primaryKey: ['id'], columns }] },
  });
  await api.must('insert', { namespace: 'game', table: 'players', rows: [{ id: 1, name: 'Ann' }] });
});
afterAll(async () => {
  await api.close();
  await panel.stop();
});
afterEach(async () => {
  await expect.poll(arriving).toEqual([]);
});

describe('rows are imported', () => {
  it('with the one permission, which reads and exports nothing', async () => {
    expect(await imported('id,name\n2,Bob\n')).toMatchObject({ status: 200, body: { rows: 1 } });
    const place = { namespace: 'game', table: 'players' };
    for (const [path, body] of [
      ['rows', place],
      ['export', { ...place, format: 'csv' }],
    ] as const) {
      expect((await writer.post(`/api/database/${path}`, body)).status, path).toBe(403);
    }
    expect((await writer.get('/api/database/namespaces')).status).toBe(403);
  });

  it('with no other permission alone', async () => {
    const [before, probe] = [await ids(), await panel.account('probe', [])];
    const { accounts } = panel.services;
    for (const name of PERMISSIONS.filter((other) => other !== 'database.write')) {
      await accounts.save(accounts.idOf('owner'), { username: 'probe', permissions: [name] });
      const answer = await imported('id\n3\n', { client: probe });
      expect([name, answer.status, answer.body.error]).toEqual([name, 403, 'permission.missing']);
    }
    expect(await ids()).toEqual(before);
  });

  it('not without a token of the page, a session or the type of a form', async () => {
    const before = await ids();
    expect((await imported('id\n3\n', { headers: { 'x-csrf': 'no' } })).body.error).toBe('csrf.invalid');
    expect((await imported('id\n3\n', { client: panel.client() })).body.error).toBe('csrf.invalid');
    const json = { 'content-type': 'application/json' };
    expect((await imported('id\n3\n', { headers: json })).body.error).toBe('body.type');
    expect(await ids()).toEqual(before);
  });
});

describe('a body is refused, and no row is written', () => {
  const file = (text: string, name = 'file') =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="a.csv"\r\n\r\n${text}\r\n`;

  it.each([
    ['two files', `${file('id\n3\n')}${file('id\n4\n')}--${BOUNDARY}--\r\n`, 'upload.form'],
    ['another field', `${file('id\n3\n', 'rows')}--${BOUNDARY}--\r\n`, 'upload.form'],
    ['no part', `--${BOUNDARY}--\r\n`, 'upload.form'],
    ['without its end', file('id\n3\n'), 'body.malformed'],
    ['an empty file', `${file('')}--${BOUNDARY}--\r\n`, 'database.request'],
    ['a file of zeros', `${file('\0'.repeat(2000))}--${BOUNDARY}--\r\n`, 'database.request'],
    ['a column twice', `${file('id,id\n3,4\n')}--${BOUNDARY}--\r\n`, 'database.request'],
    ['a column of objects', `${file('id,__proto__\n3,4\n')}--${BOUNDARY}--\r\n`, 'database.request'],
  ])('%s', async (_what, body, error) => {
    const before = await ids();
    const { status, body: answer } = await send(body);
    expect([status, answer.error]).toEqual([400, error]);
    expect(answer.detail).toEqual(expect.stringMatching(/./));
    expect(await ids()).toEqual(before);
  });

  it.each([
    ['no table', 'namespace=game&format=csv', 404],
    ['a table of the system', 'namespace=game&table=sqlite_master&format=csv', 404],
    ['a path', 'namespace=..%2Fgame&table=players&format=csv', 404],
    ['SQL', 'namespace=game&table=players%22%3BDROP%20TABLE%20x&format=csv', 404],
    ['NUL', 'namespace=game&table=players%00&format=csv', 404],
    ['another case', 'namespace=GAME&table=players&format=csv', 404],
    ['a name without end', `namespace=game&table=${'a'.repeat(5000)}&format=csv`, 404],
    ['no format', 'namespace=game&table=players', 400],
    ['another format', 'namespace=game&table=players&format=CSV', 400],
  ])('%s', async (_what, query, status) => {
    const before = await ids();
    const answer = await imported('id\n3\n', { query });
    expect([answer.status, answer.body.error === undefined]).toEqual([status, false]);
    expect(await ids()).toEqual(before);
  });

  it.each([
    ['values of other types', '{"id":3}\n{"id":"x"}\n{"id":{"$gt":0}}\n'],
    ['properties of objects', '{"id":3}\n{"id":4,"__proto__":{"a":1}}\n{"id":5,"constructor":1}\n'],
    ['numbers beyond int64', '{"id":3}\n{"id":9223372036854775808}\n{"id":1e400}\n'],
    ['texts that are too long', `{"id":3}\n{"id":4,"name":"${'x'.repeat(21)}"}\n{"id":5,"name":"\\u0000"}\n`],
    ['keys that are there', '{"id":3}\n{"id":1}\n{"id":3}\n'],
  ])('JSON lines with %s', async (_what, text) => {
    const before = await ids();
    const { body } = await imported(text, { query: 'namespace=game&table=players&format=jsonl' });
    expect(body).toMatchObject({ rows: 0, refused: 2 });
    expect(await ids()).toEqual(before);
  });
});

describe('a body that arrives slowly', () => {
  it('keeps no other account out, and its account has one', async () => {
    const [other = writer] = others;
    const slow = begun(writer, 'id\n10\n');
    await slow.arrives();
    expect(await imported('id\n11\n')).toMatchObject({
      status: 409,
      body: { error: 'upload.busy', detail: 'yours: 1' },
    });
    expect(await imported('id\n12\n', { client: other })).toMatchObject({ status: 200, body: { rows: 1 } });
    slow.end();
    expect(await slow.answer).toMatchObject({ status: 200, body: { rows: 1 } });
    expect(await imported('id\n11\n')).toMatchObject({ status: 200, body: { rows: 1 } });
  });

  it('is written once by each of four that end together', async () => {
    const clients = [writer, ...others];
    const slow = clients.map((client, index) => begun(client, `id\n${20 + index}\n${20 + ((index + 1) % 4)}\n`));
    await expect.poll(() => arriving().length).toBe(4);
    expect(await imported('id\n30\n', { client: owner })).toMatchObject({
      status: 409,
      body: { error: 'upload.busy', detail: 'of ann, bob, cid, writer' },
    });
    for (const { end } of slow) end();
    const answers = await Promise.all(slow.map(({ answer }) => answer));
    // Neighbours share a row: who comes second is refused as a whole.
    const written = answers.filter(({ body }) => body.refused === 0).length;
    const added = (await ids()).filter((id) => id >= 20 && id < 30).length;
    expect(added).toBe(written * 2);
    expect(written).toBeGreaterThanOrEqual(1);
  });

  it('waits until the import before it is written', async () => {
    const text = Buffer.from(`${HEAD}id\n60\n${TAIL}`);
    const order: string[] = [];
    const firstHolds = Promise.withResolvers<void>();
    const run = (name: string, accountId: number, judgeAgain: () => Promise<void>) => {
      const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
      const request = Object.assign(Readable.from([text]), { headers, socket: { bytesRead: 0 } });
      const caller = { accountId, username: name } as Caller;
      const wish = { namespace: 'game', table: 'players', format: 'csv' } as const;
      const given = { caller, judgeAgain, signal: new AbortController().signal };
      return panel.services.rowExchange.import(request as unknown as IncomingMessage, wish, given);
    };
    const begin = Promise.withResolvers<void>();
    const first = run('first', 901, async () => {
      begin.resolve();
      await firstHolds.promise;
      order.push('first');
    });
    await begin.promise;
    const second = run('second', 902, async () => void order.push('second'));
    await expect.poll(() => sizes()).toEqual(Array(2).fill(text.length - HEAD.length - TAIL.length));
    expect(order).toEqual([]);
    firstHolds.resolve();
    expect(await first).toMatchObject({ rows: 1 });
    expect(await second).toMatchObject({ rows: 0, refused: 1 });
    expect(order).toEqual(['first', 'second']);
  });

  it.each([
    ['the right', { permissions: [] }, 'permission.missing'],
    ['its session, by a new password', { password: 'another long password' }, 'session.expired'],
    ['its session, as the account is off', { enabled: false }, 'session.expired'],
  ])('and whose account loses %s meanwhile, writes nothing', async (_what, change, error) => {
    const before = await ids();
    const { accounts } = panel.services;
    const name = `late-${Object.keys(change)[0]}`.toLowerCase();
    const late = await panel.account(name, ['database.write']);
    const slow = begun(late, 'id\n40\n');
    await slow.arrives();
    await accounts.save(accounts.idOf('owner'), { username: name, ...change });
    slow.end();
    expect((await slow.answer).body.error).toBe(error);
    expect(await ids()).toEqual(before);
  });
});

it('imports are written down with table and result, not with rows', async () => {
  const { body } = await owner.get<{
    entries: { action: string; subject: string; username: string; result: string }[];
  }>('/api/audit');
  const entries = body.entries.filter(({ action }) => action === 'database.import');
  expect(
    entries.some(({ username, subject, result }) => `${username} ${subject} ${result}` === 'writer game.players ok'),
  ).toBe(true);
  expect(entries.some(({ result }) => result === 'permission.missing')).toBe(true);
  expect(JSON.stringify(entries)).not.toContain('Bob');
});
