import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAccounts } from '#sidecar/commands/accounts.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
});

afterAll(() => panel.stop());

async function run(words: readonly string[], isForPeople = false) {
  const lines: string[] = [];
  const errors: string[] = [];
  const config = loadConfig(`${panel.folder}/sidecar.json`, {});
  const io = {
    print: (line: string) => void lines.push(line),
    printError: (line: string) => void errors.push(line),
    isForPeople,
  };
  const isDone = await runAccounts(words, config, io).catch((error: Error) => error.message);
  return { isDone, lines, errors };
}

it.each([[[]], [['list', 'x']], [['new-password']], [['new-password', 'a', 'b']], [['remove', 'owner']]])(
  'refuses %j',
  async (words) => {
    expect(await run(words)).toMatchObject({ isDone: expect.stringContaining('accounts list'), lines: [] });
  },
);

it('gives nobody a password who has no account', async () => {
  expect(await run(['new-password', '../owner'])).toMatchObject({ isDone: false, lines: [] });
  expect(await owner.session()).toMatchObject({ authenticated: true });
});

it('lists accounts for people and for programs, without anything secret', async () => {
  expect((await run(['list'], true)).lines).toEqual([
    'name   enabled  manages accounts  permissions',
    expect.stringMatching(/^owner {2}yes {6}yes {17,}\d+$/),
  ]);
  expect(JSON.parse((await run(['list'])).lines[0] ?? '')).toMatchObject({ username: 'owner', enabled: true });
});

it('lets the owner in again beside the running panel, and ends what was open', async () => {
  const { lines } = await run(['new-password', 'owner']);
  const { password } = JSON.parse(lines[0] ?? '') as { password: string };
  expect((await owner.post('/api/logout')).body).toMatchObject({ error: 'session.expired' });
  expect((await panel.client().login('owner', PASSWORD)).status).toBe(401);
  const again = panel.client();
  expect((await again.login('owner', password)).status).toBe(200);
  const { entries } = (await again.get<{ entries: object[] }>('/api/audit')).body;
  expect(entries).toContainEqual(
    expect.objectContaining({ action: 'users.save', subject: 'owner (password)', address: 'command line' }),
  );
});
