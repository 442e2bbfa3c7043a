import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;
/** Manages accounts, and holds little else. */
let manager: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
  manager = await panel.account('manager', ['users.manage', 'console.read']);
});

afterAll(() => panel.stop());

const users = async () => (await owner.get<{ users: unknown[] }>('/api/users')).body.users;

async function refused(client: PanelClient, path: string, body: object, status: number, error: string): Promise<void> {
  const before = await users();
  const answer = await client.post(path, body);
  expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error });
  expect(await users()).toEqual(before);
}

const save = '/api/users/save';
const remove = '/api/users/delete';

describe('what is refused, and changes nothing', () => {
  it.each([
    ['a name with a space', { username: 'a b', password: PASSWORD, create: true }, 400, 'users.username'],
    ['a name that leads elsewhere', { username: '../x', password: PASSWORD, create: true }, 400, 'users.username'],
    ['a name of 33 letters', { username: 'a'.repeat(33), password: PASSWORD, create: true }, 400, 'users.username'],
    [
      'an unknown permission',
      { username: 'x', password: PASSWORD, create: true, permissions: ['root'] },
      400,
      'users.permissions',
    ],
    ['a password of 11 characters', { username: 'x', password: 'elevenchars', create: true }, 400, 'users.password'],
    ['a password of 257 characters', { username: 'x', password: 'x'.repeat(257), create: true }, 400, 'users.password'],
    ['a new account without a password', { username: 'x', create: true }, 400, 'users.password'],
    ['a new account with an empty one', { username: 'x', password: '', create: true }, 400, 'users.password'],
    [
      'a name that is taken, in capitals too',
      { username: 'Owner', password: PASSWORD, create: true },
      409,
      'users.exists',
    ],
    ['a change of nobody', { username: 'nobody' }, 404, 'users.unknown'],
    ['a field that is not known', { username: 'x', admin: true }, 400, 'body.malformed'],
    ['permissions that are no list', { username: 'x', permissions: 'users.manage' }, 400, 'body.malformed'],
    ['permissions of the wrong kind', { username: 'x', permissions: [{}] }, 400, 'body.malformed'],
  ])('%s', (_what, body, status, error) => refused(owner, save, body, status, error));

  it('removing nobody', () => refused(owner, remove, { username: 'nobody' }, 404, 'users.unknown'));
});

describe('nobody grants what they lack', () => {
  it.each([
    ['to a new account', { username: 'x', password: PASSWORD, create: true, permissions: ['console.write'] }],
    ['to themselves', { username: 'manager', permissions: ['users.manage', 'console.read', 'console.write'] }],
    ['by taking from somebody who holds more', { username: 'owner', permissions: ['users.manage'] }],
    ['by giving somebody who holds more another password', { username: 'owner', password: 'another long password' }],
    ['by disabling somebody who holds more', { username: 'owner', enabled: false }],
  ])('%s', (_what, body) => refused(manager, save, body, 403, 'users.grant'));

  it('nor removes somebody who holds more', () => refused(manager, remove, { username: 'owner' }, 403, 'users.grant'));

  it('but gives what they hold', async () => {
    const reader = { username: 'reader', permissions: ['console.read'] };
    const made = { ...reader, password: PASSWORD, create: true };
    expect((await manager.post(save, made)).status).toBe(200);
    expect(await users()).toContainEqual({ ...reader, enabled: true, secondFactor: false });
    expect((await manager.post(remove, { username: 'reader' })).status).toBe(200);
  });
});

describe('the last account that manages accounts', () => {
  it('stays, also when two remove each other at once', async () => {
    const second = await panel.account('second', [...PERMISSIONS]);
    await owner.post(remove, { username: 'manager' });
    const answers = await Promise.all([
      owner.post(remove, { username: 'second' }),
      second.post(save, { username: 'owner', permissions: [] }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const managers = panel.services.accounts.list().filter((account) => account.permissions.includes('users.manage'));
    expect(managers).toHaveLength(1);
    const last = managers[0]?.username as string;
    const client = last === 'owner' ? owner : second;
    for (const [path, body] of [
      [remove, { username: last }],
      [save, { username: last, enabled: false }],
      [save, { username: last, permissions: PERMISSIONS.filter((name) => name !== 'users.manage') }],
    ] as const) {
      expect((await client.post(path, body)).body).toMatchObject({ ok: false, error: 'users.lastManager' });
    }
  });
});
