import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel({ settings: { backend: 'none' } });
  owner = await panel.owner();
});

afterAll(() => panel.stop());

it('refuses all control where something else runs the server', async () => {
  const answers = await Promise.all([
    ...['start', 'stop', 'restart', 'force-stop'].map((action) => owner.post(`/api/server/${action}`)),
    owner.post('/api/command', { text: 'say hi' }),
  ]);
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [409, 'server.elsewhere']));
  expect((await owner.get('/api/status')).body.status).toMatchObject({ state: 'stopped', backend: 'none', pid: null });
});
