import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterAnswer } from '#panel/shapes/cluster.ts';
import type {
  LettersAnswer,
  NamespacesAnswer,
  QuarantineAnswer,
  QuarantineChangeAnswer,
  QueueAnswer,
  RowAnswer,
  RowsAnswer,
} from '#panel/shapes/database.ts';
import { JsonNumber } from '#protocol/json.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../panel/support/panel.ts';
import { secretOf } from '../support/config-folder.ts';
import { SignedClient } from '../support/signed-client.ts';
import { ownDatabase, type TestDatabase } from '../support/test-database.ts';
import { declare, PATIENT } from './data-world.ts';

let panel: TestPanel;
let owner: PanelClient;
let api: SignedClient;
let database: TestDatabase | null;

beforeAll(async () => {
  database = await ownDatabase();
  const writeBehind = { namespaces: { stats: { consistentReads: true } }, flushIntervalMs: 50 };
  panel = await startTestPanel({ database, config: { ...PATIENT, writeBehind } });
  owner = await panel.owner();
  api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
});

afterAll(async () => {
  await api.close();
  await panel.stop();
  await database?.drop();
});

const CHARACTERS = {
  name: 'characters',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string', length: 40, unique: true },
    { name: 'folded', type: 'string', length: 40, derived: { from: 'name', fold: true } },
    { name: 'money', type: 'decimal', precision: 20, scale: 2, default: 0 },
    { name: 'data', type: 'json', nullable: true },
    { name: 'note', type: 'text', nullable: true },
    { name: 'changed', type: 'datetime', default: 'now', onUpdate: 'now' },
  ],
};
const BIG = '9007199254740993';

/** A namespace with three characters; the first has an id that no double holds. */
async function characters(): Promise<string> {
  const namespace = await declare(api, CHARACTERS);
  const digits = new JsonNumber(BIG, false);
  const rows = [
    { id: digits, name: 'Ána', money: '0.10', data: { n: digits } },
    { id: 2, name: 'Bob' },
    { id: 3, name: 'Cy' },
  ];
  await api.must('insert', { namespace, table: 'characters', rows });
  return namespace;
}

async function rows(body: object): Promise<RowsAnswer> {
  const answer = await owner.post<RowsAnswer>('/api/database/rows', body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

it('the host of the database is that of its URL, without its account', async () => {
  const url = database?.settings.url;
  const host = typeof url === 'string' ? { host: new URL(url).host, insteadOf: null, hasOthers: false } : null;
  expect((await owner.get<ClusterAnswer>('/api/cluster')).body.database).toEqual(host);
});

describe('rows of a table', () => {
  it('are counted, all of them or those of a filter', async () => {
    const namespace = await characters();
    const count = async (body: object) =>
      (await owner.post('/api/database/count', { namespace, table: 'characters', ...body })).body;
    expect(await count({})).toMatchObject({ rows: 3, isEstimate: false });
    expect(await count({ filter: '{"field":"id","op":"lt","value":3}' })).toMatchObject({ rows: 1, isEstimate: false });
    expect(await count({ filter: '{"field":"age","op":"eq","value":1}' })).toMatchObject({ error: 'database.request' });
    expect(await count({ table: 'houses' })).toMatchObject({ error: 'database.unknown' });
  });

  it('a filter, a name or a sort that does not fit is refused with what is wrong with it', async () => {
    const namespace = await characters();
    const refusal = async (body: object) => {
      const { status, body: answer } = await owner.post('/api/database/rows', {
        namespace,
        table: 'characters',
        ...body,
      });
      return `${status} ${answer.error} ${answer.detail}`;
    };
    expect(await refusal({ filter: '{"field":' })).toMatch(/^400 database.request filter: /);
    expect(await refusal({ filter: '{"field":"age","op":"eq","value":1}' })).toMatch(
      /^400 database.request .*unknown column/,
    );
    expect(await refusal({ filter: '[1]' })).toMatch(/^400 database.request .*filter/);
    expect(await refusal({ sort: [{ field: 'data', dir: 'asc' }] })).toMatch(/^400 database.request .*sort/);
    expect(await refusal({ table: 'houses' })).toMatch(/^404 database.unknown /);
    expect(await refusal({ namespace: 'nowhere' })).toMatch(/^404 database.unknown /);
    expect(await refusal({ table: '_queues' })).toMatch(/^400 database.request table: not a name/);
    expect(await refusal({ limit: 201 })).toMatch(/^400 body.malformed /);
  });

  it('come with every digit, by filter, in order, page by page', async () => {
    const namespace = await characters();
    const asked = { namespace, table: 'characters' };
    const first = await rows({ ...asked, sort: [{ field: 'name', dir: 'desc' }], limit: 2 });
    expect(first.key).toEqual(['id']);
    expect(first.columns.map(({ name }) => name)).toEqual(CHARACTERS.columns.map(({ name }) => name));
    expect(first.columns.filter(({ isEditable }) => !isEditable).map(({ name }) => name)).toEqual(['id', 'folded']);
    expect(first).toMatchObject({ hasMore: true, isBehind: false });
    const rest = await rows({ ...asked, sort: [{ field: 'name', dir: 'desc' }], limit: 2, offset: 2 });
    expect(rest.hasMore).toBe(false);
    const ids = [...first.rows, ...rest.rows].map(([id]) => id);
    expect(ids).toEqual([BIG, '3', '2']);
    const found = await rows({ ...asked, filter: `{"field":"id","op":"eq","value":${BIG}}` });
    expect(found.rows.map((row) => row.slice(0, 6))).toEqual([[BIG, '"Ána"', '"ana"', '0.1', `{"n":${BIG}}`, 'null']]);
  });
});

async function rowOf(namespace: string, id: string): Promise<Record<string, string>> {
  const asked = { namespace, table: 'characters', filter: `{"field":"id","op":"eq","value":${id}}` };
  const { columns, rows: found } = await rows(asked);
  return Object.fromEntries(columns.map(({ name }, i) => [name, found[0]?.[i] ?? '']));
}

describe('one row', () => {
  const change = (body: object) => owner.post<RowAnswer>('/api/database/row', { table: 'characters', ...body });

  it('what cannot be changed is refused, and nothing is', async () => {
    const namespace = await characters();
    const seen = await rowOf(namespace, '2');
    const refusal = async (body: object) => {
      const answer = await change({ namespace, key: { id: '2' }, set: { note: '"x"' }, seen, ...body });
      const { error, detail } = answer.body as unknown as Record<string, string>;
      return `${answer.status} ${error} ${detail ?? ''}`;
    };
    expect(await refusal({ key: {} })).toMatch(/^400 database.request key: expected id/);
    expect(await refusal({ key: { name: '"Bob"' } })).toMatch(/^400 database.request key: expected id/);
    expect(await refusal({ key: { id: '77' } })).toMatch(/^404 database.unknown /);
    expect(await refusal({ set: {} })).toMatch(/^400 database.request set: /);
    expect(await refusal({ set: { id: '5' } })).toMatch(/^400 database.request id: .*primary key/);
    expect(await refusal({ set: { folded: '"x"' } })).toMatch(/^400 database.request folded: .*derived/);
    expect(await refusal({ set: { note: 'x' } })).toMatch(/^400 database.request set: /);
    expect(await refusal({ set: { money: '0.123' } })).toBe(
      '400 database.request money: use at most 2 digits after the point.',
    );
    expect(await refusal({ seen: {} })).toMatch(/^400 database.request seen: expected what note was/);
    expect(await refusal({ set: { name: '"Cy"' } })).toMatch(/^409 database.refused /);
    expect(await refusal({ seen: { ...seen, note: '"y"' } })).toMatch(/^409 database.conflict/);
    expect(await rowOf(namespace, '2')).toEqual(seen);
  });

  it('a preview shows what would be, and changes nothing', async () => {
    const namespace = await characters();
    const seen = await rowOf(namespace, BIG);
    const { body } = await change({ namespace, key: { id: BIG }, set: { name: '"ÉVE"' }, seen, preview: true });
    expect(body.before).toEqual(seen);
    expect(body.after).toMatchObject({ id: BIG, name: '"ÉVE"', folded: '"eve"', money: '0.1', data: `{"n":${BIG}}` });
    expect(body.changed).toEqual(expect.arrayContaining(['name', 'folded']));
    expect(await rowOf(namespace, BIG)).toEqual(seen);
  });

  it('is changed to what the preview said, digit for digit', async () => {
    const namespace = await characters();
    const seen = await rowOf(namespace, BIG);
    const set = { name: '"Eve"', money: '123456789012345678.9', data: `[${BIG}]`, note: '"two\\nlines"' };
    const { status, body } = await change({ namespace, key: { id: BIG }, set, seen });
    expect(status).toBe(200);
    expect(await rowOf(namespace, BIG)).toEqual(body.after);
    expect(body.after).toMatchObject({ ...set, folded: '"eve"' });
  });

  it('values of every type are known again, so that nothing but a change is a conflict', async () => {
    const columns = [
      { name: 'int32', type: 'int32' },
      { name: 'int64', type: 'int64' },
      { name: 'decimal', type: 'decimal', precision: 34, scale: 10 },
      { name: 'float64', type: 'float64' },
      { name: 'bool', type: 'bool' },
      { name: 'string', type: 'string', length: 200 },
      { name: 'text', type: 'text' },
      { name: 'json', type: 'json' },
      { name: 'datetime', type: 'datetime' },
      { name: 'date', type: 'date' },
      { name: 'uuid', type: 'uuid' },
      { name: 'bytes', type: 'bytes' },
    ];
    const nullable = columns.map((column) => ({ ...column, name: `${column.name}_null`, nullable: true }));
    const key = { name: 'id', type: 'string', length: 40 };
    const table = { name: 'characters', primaryKey: ['id'], columns: [key, ...columns, ...nullable] };
    const namespace = await declare(api, table);
    const values = {
      ...{ int32: -2147483648, int64: new JsonNumber('-9223372036854775808', false), bool: false },
      ...{ decimal: new JsonNumber('123456789012345678901234.0123456789', false), float64: 0.1 + 0.2 },
      ...{ string: ' Ö\u2028\\"%_ ', text: 'line\nline\u202e', json: 'scalar', date: '0001-01-01' },
      ...{ datetime: '2026-11-23T01:02:03.004Z', uuid: '0b5c4ba2-0a3e-4e3c-8b7a-5c7f3f1f0a11', bytes: 'AAEC/w==' },
    };
    for (const [id, json] of Object.entries({ 'Ö a': 'scalar', b: { deep: [1, null] }, c: 5.5 })) {
      await api.must('insert', { namespace, table: 'characters', rows: [{ ...values, id, json }] });
      const seen = await rowOf(namespace, JSON.stringify(id));
      const set = { int32: '1', json: '{"a":[]}', text_null: '"now"', bool_null: 'true' };
      const { status, body } = await change({ namespace, key: { id: JSON.stringify(id) }, set, seen });
      expect([status, body]).toMatchObject([200, { changed: expect.arrayContaining(Object.keys(set)) }]);
      expect(await rowOf(namespace, JSON.stringify(id))).toEqual({ ...seen, ...set });
    }
  });

  it('of two who saw the same row only the first changes it', async () => {
    const namespace = await characters();
    const seen = await rowOf(namespace, '3');
    const both = await Promise.all(
      ['"a"', '"b"'].map((note) => change({ namespace, key: { id: '3' }, set: { note }, seen })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  it.each([
    ['money', 5],
    // Neither of these two stands in a filter.
    ['data', { deep: [1] }],
    ['note', 'x'.repeat(5000)],
  ])(
    'a change of another column (%s) since it was seen is a conflict too, in a preview as well',
    async (name, value) => {
      const namespace = await characters();
      const seen = await rowOf(namespace, '3');
      const filter = { field: 'id', op: 'eq', value: 3 };
      await api.must('update', { namespace, table: 'characters', filter, set: { [name]: value } });
      for (const preview of [true, false]) {
        const { status, body } = await change({ namespace, key: { id: '3' }, set: { name: '"x"' }, seen, preview });
        expect([status, (body as unknown as { error: string }).error]).toEqual([409, 'database.conflict']);
      }
    },
  );

  it('a row of a table without key is shown, and cannot be changed', async () => {
    const namespace = await declare(api, { name: 'characters', columns: [{ name: 'n', type: 'int32' }] });
    await api.must('insert', { namespace, table: 'characters', rows: [{ n: 1 }] });
    expect((await rows({ namespace, table: 'characters' })).key).toEqual([]);
    const { status } = await change({ namespace, key: { n: '1' }, set: { n: '2' }, seen: { n: '1' } });
    expect(status).toBe(400);
  });
});

it('namespaces have their tables with sizes, small ones counted', async () => {
  const namespace = await characters();
  await expect
    .poll(async () => {
      const { body } = await owner.get<NamespacesAnswer>('/api/database/namespaces');
      return body.namespaces.find(({ name }) => name === namespace);
    })
    .toMatchObject({
      isBuffered: false,
      tables: [{ name: 'characters', rows: 3, isEstimate: false, bytes: expect.any(Number), columns: 7 }],
    });
});

describe('the write queue', () => {
  const letters = async () => (await owner.get<QueueAnswer>('/api/database/queue')).body.letters ?? [];
  const insert = (id: number) => api.must('insert', { namespace: 'stats', table: 'kills', rows: [{ id }] });

  /** A write that can never succeed, once it has been tried. */
  async function deadLetter(id: number): Promise<string> {
    await insert(id);
    await api.must('flush', { namespace: 'stats' });
    await insert(id);
    await api.must('flush', { namespace: 'stats' });
    const letter = (await letters()).find(({ payload }) => payload.includes(`"id":${id}}`));
    expect(letter).toMatchObject({ namespace: 'stats', op: 'insert', table: 'kills', code: 'constraint_violation' });
    return letter?.id ?? '';
  }

  it('its dead letters are shown, tried again and discarded, each told by its id', async () => {
    const tables = [{ name: 'kills', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }] }];
    await api.must('schema.sync', { namespace: 'stats', schema: { tables } });
    const [kept, again] = [await deadLetter(1), await deadLetter(2)];
    const filter = { field: 'id', op: 'eq', value: 2 };
    await api.must('delete', { namespace: 'stats', table: 'kills', filter, durability: 'immediate' });

    const retried = await owner.post<LettersAnswer>('/api/database/dead-letters/retry', { ids: [again, 'gone'] });
    expect(retried.body).toMatchObject({
      done: [again],
      gone: ['gone'],
      prospects: [{ namespace: 'stats', prospect: 'soon' }],
    });
    await expect.poll(async () => (await letters()).map(({ id }) => id)).toEqual([kept]);
    await api.must('flush', { namespace: 'stats' });
    expect((await rows({ namespace: 'stats', table: 'kills' })).rows).toEqual([['1'], ['2']]);

    const discarded = await owner.post<LettersAnswer>('/api/database/dead-letters/discard', { ids: [kept] });
    expect(discarded.body).toMatchObject({ done: [kept], gone: [] });
    const { body } = await owner.get<QueueAnswer>('/api/database/queue');
    expect(body.letters).toEqual([]);
    expect(body.queue).toMatchObject({ isAvailable: true, pending: 0 });
    expect(body.queue?.namespaces).toEqual([{ namespace: 'stats', pending: 0, oldest: null, state: 'well' }]);
  });
});

describe('quarantine', () => {
  const objects = async (namespace: string) => {
    const { body } = await owner.get<QuarantineAnswer>('/api/database/quarantine');
    return body.objects.filter((object) => object.namespace === namespace);
  };
  const act = (action: string, ids: number[]) =>
    owner.post<QuarantineChangeAnswer>(`/api/database/quarantine/${action}`, { ids });

  it('what a sync took away comes back, or goes for good', async () => {
    const namespace = await characters();
    await api.must('schema.sync', { namespace, schema: { tables: [] } });
    const [table] = await objects(namespace);
    expect(table).toMatchObject({ kind: 'table', table: 'characters', column: null, rows: 3 });
    const id = table?.id ?? 0;
    expect((await act('restore', [id, 999_999])).body).toMatchObject({
      done: [{ id, note: null }],
      failed: [{ id: 999_999, reason: expect.any(String) }],
    });
    expect((await rows({ namespace, table: 'characters' })).rows).toHaveLength(3);

    await api.must('schema.sync', { namespace, schema: { tables: [] } });
    const [again] = await objects(namespace);
    expect((await act('purge', [again?.id ?? 0])).body.done).toHaveLength(1);
    expect(await objects(namespace)).toEqual([]);
    expect(await act('purge', [again?.id ?? 0])).toMatchObject({ status: 404 });
  });

  it('what has no place any more stays, with the reason', async () => {
    const namespace = await characters();
    await api.must('schema.sync', { namespace, schema: { tables: [] } });
    await api.must('schema.sync', { namespace, schema: { tables: [CHARACTERS] } });
    const [table] = await objects(namespace);
    const { body } = await act('restore', [table?.id ?? 0]);
    expect(body).toMatchObject({
      done: [],
      failed: [{ id: table?.id, reason: expect.stringContaining('characters') }],
    });
    expect(await objects(namespace)).toHaveLength(1);
  });
});
