import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KeysAnswer, SlowAnswer } from '#panel/shapes/database.ts';
import { keyOf, secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const KEYS = [
  keyOf('local'),
  keyOf('shop', {
    operations: ['find'],
    namespaces: ['game'],
    allowUnfilteredWrites: false,
    addresses: ['127.0.0.0/8'],
  }),
];

let panel: TestPanel;
let owner: PanelClient;
let clients: SignedClient[] = [];

function clientOf(kid: string, secret = secretOf(kid)): SignedClient {
  const client = new SignedClient({ address: panel.apiAddress, kid, secret });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  panel = await startTestPanel({ config: { keys: KEYS } });
  owner = await panel.owner();
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await panel.stop();
});

const keys = async () => (await owner.get<KeysAnswer>('/api/database/keys')).body.keys;
const keyNamed = async (kid: string) => (await keys()).find((key) => key.kid === kid);

describe('keys', () => {
  it('are shown with what they may do and when they were used, and never with a secret', async () => {
    expect(await keyNamed('shop')).toEqual({
      kid: 'shop',
      operations: ['find'],
      namespaces: ['game'],
      addresses: ['127.0.0.0/8'],
      allowUnfilteredWrites: false,
      previousUntil: null,
      lastUsed: null,
      lastAddress: null,
      calls: 0,
    });
    // A refusal by permission is a use of the key, a wrong secret is not.
    await clientOf('shop').call('count', { namespace: 'game', table: 't' });
    await clientOf('shop', 'y'.repeat(43)).call('find', { namespace: 'game', table: 't' });
    expect(await keyNamed('shop')).toMatchObject({
      calls: 1,
      lastAddress: '127.0.0.1',
      lastUsed: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const { text } = await owner.get('/api/database/keys');
    for (const key of KEYS) expect(text).not.toContain(key.secret);
  });

  it('their last use outlives a restart', async () => {
    const before = await keyNamed('shop');
    const { folder } = panel;
    await panel.stop();
    panel = await startTestPanel({ folder, config: { keys: [...KEYS] } });
    owner = await panel.owner();
    clients = [];
    expect(await keyNamed('shop')).toMatchObject({ lastUsed: before?.lastUsed, lastAddress: '127.0.0.1', calls: 0 });
  });
});

describe('slow calls', () => {
  it('are listed by their names, newest first; nothing of what they hold', async () => {
    const slow = async () => (await owner.get<SlowAnswer>('/api/database/slow')).body;
    const { calls, latest } = await slow();
    expect(latest).toEqual([]);
    const payload = {
      namespace: 'game',
      table: 'characters',
      filter: {
        and: [{ field: 'name', op: 'eq', value: 'secret-value' }, { not: { field: 'age', op: 'gt', value: 1 } }],
      },
      sort: [{ field: 'money' }],
    };
    const call = { kid: 'local', address: '127.0.0.1', payload, code: 'ok', databaseMs: 240.4 };
    panel.services.slowCalls.saw({ ...call, operation: 'count', ms: 10 });
    panel.services.slowCalls.saw({ ...call, operation: 'find', ms: 250.6 });
    panel.services.slowCalls.saw({
      ...call,
      operation: 'insert',
      ms: 1000,
      code: 'timeout',
      payload: { table: 'x y' },
    });
    const after = await slow();
    expect(after).toMatchObject({ thresholdMs: 200, calls: calls + 3, slow: 2 });
    expect(after.latest).toMatchObject([
      { operation: 'insert', namespace: null, table: null, columns: [], code: 'timeout' },
      {
        ...{ operation: 'find', namespace: 'game', table: 'characters', kid: 'local', code: 'ok' },
        ...{ columns: ['name', 'age', 'money'], ms: 251, databaseMs: 240 },
      },
    ]);
    expect((await owner.get('/api/database/slow')).text).not.toContain('secret-value');
  });

  it('a thousand of them take no more room than two hundred', async () => {
    const call = { kid: 'local', address: '::1', payload: null, code: 'ok', databaseMs: 0, operation: 'find' };
    for (let i = 0; i < 1000; i++) panel.services.slowCalls.saw({ ...call, ms: 500 + i });
    const { latest } = panel.services.slowCalls.read();
    expect(latest).toHaveLength(200);
    expect(latest[0]?.ms).toBe(1499);
  });
});
