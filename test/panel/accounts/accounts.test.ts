import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AccountStore } from '#panel/accounts/account-store.ts';
import { Accounts } from '#panel/accounts/accounts.ts';
import { PasswordHasher } from '#panel/accounts/password-hasher.ts';
import { Sessions } from '#panel/accounts/sessions.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

const PASSWORD = 'correct horse battery staple';
const folder = testFolder();
let store: PanelStore;
let rows: AccountStore;
let sessions: Sessions;
let accounts: Accounts;

beforeAll(async () => {
  store = openPanelStore(join(folder, 'panel.sqlite'));
  rows = new AccountStore(store);
  sessions = new Sessions(store, Date.now, (work) => work());
  accounts = new Accounts({
    store: rows,
    hasher: new PasswordHasher(),
    waysIn: [sessions],
    factors: { accountIds: () => new Set() },
  });
});

afterAll(() => {
  sessions.close();
  store.close();
});

it('makes one first account of two that are set up at once', async () => {
  const drafts = ['one', 'two'].map((username) => ({ username, password: PASSWORD, permissions: PERMISSIONS }));
  const made = await Promise.all(drafts.map((draft) => accounts.createFirst(draft)));
  expect(made.sort()).toEqual([false, true]);
  expect(accounts.list()).toHaveLength(1);
  expect(accounts.list()[0]?.permissions).toEqual(PERMISSIONS);
});

it('keeps a password only as a salted scrypt key', () => {
  const [account] = rows.all();
  expect(account?.password).toMatch(/^scrypt\$32768\$8\$3\$[\w+/=]{24}\$[\w+/=]{44}$/);
  expect(store.serialize().includes(PASSWORD)).toBe(false);
});

it('keeps of a session token only its hash', () => {
  const { token } = sessions.open(rows.all()[0]?.id ?? 0, false);
  expect(sessions.find(token)).not.toBeNull();
  expect(store.serialize().includes(token)).toBe(false);
});

it('leaves one manager of two who disable each other while their passwords are computed', async () => {
  const [first] = rows.all();
  const names = [first?.username ?? '', 'other'];
  const permissions = new Set(PERMISSIONS);
  rows.insert({ username: 'other', password: first?.password ?? '', permissions, enabled: true });
  const [one, two] = names.map((name) => accounts.idOf(name));
  const results = await Promise.allSettled([
    accounts.save(one ?? 0, { username: 'other', enabled: false, password: `${PASSWORD}1` }),
    accounts.save(two ?? 0, { username: names[0] ?? '', enabled: false, password: `${PASSWORD}2` }),
  ]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refusal = results.find((result) => result.status === 'rejected');
  // An account that was disabled meanwhile may do nothing any more.
  expect(refusal?.reason).toMatchObject({ key: 'permission.missing' });
  expect(accounts.list().filter(({ enabled }) => enabled)).toHaveLength(1);
});

it('ends the oldest session of an account that has very many', () => {
  const id = rows.all().find(({ enabled }) => enabled)?.id ?? 0;
  sessions.endOfAccount(id);
  const tokens = Array.from({ length: 51 }, () => sessions.open(id, true).token);
  expect(tokens.map((token) => sessions.find(token) !== null)).toEqual([false, ...Array(50).fill(true)]);
});

it('finds nothing of a deleted account behind a new one of the same name', async () => {
  const manager = rows.all().find(({ enabled }) => enabled);
  const draft = { username: 'guest', permissions: new Set(['console.read'] as const), enabled: true };
  const before = rows.insert({ ...draft, password: manager?.password ?? '' });
  const { token } = sessions.open(before, true);
  accounts.remove(manager?.id ?? 0, 'guest');
  const after = rows.insert({ ...draft, password: manager?.password ?? '' });
  expect(after).not.toBe(before);
  expect(sessions.find(token)).toBeNull();
});
