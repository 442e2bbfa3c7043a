import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChartsAnswer } from '#panel/shapes/charts.ts';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine } from '../support/server-rig.ts';

let panel: TestPanel;
let owner: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel({ settings: { backend: 'command', startLine: fakeLine(), stopLine: 'quit' } });
  panel.services.settings.update({ serverRoot: panel.folder });
  owner = await panel.owner();
});

afterAll(async () => {
  await panel.stop();
});

const state = async () => {
  const { body } = await owner.get<{ status: { state: string } }>('/api/status');
  return body.status.state;
};
const known = (list: readonly (number | null)[]) => list.filter((value) => value !== null);

it('a range that there is not is refused', async () => {
  expect(await owner.get('/api/charts?range=1y')).toMatchObject({ status: 400, body: { error: 'charts.range' } });
});

it('shows a server that ran, the calls of that time, and when it was started and stopped', async () => {
  await owner.post('/api/server/start');
  await expect.poll(state).toBe('running');
  const api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  await api.call('health');
  await api.call('find', { namespace: 'nowhere', table: 't' });
  await api.close();
  await panel.services.charts.sample();
  await owner.post('/api/server/stop');
  await expect.poll(state).toBe('stopped');

  const { body } = await owner.get<ChartsAnswer>('/api/charts?range=1h');
  expect(body).toMatchObject({ range: '1h', stepSeconds: 10, marks: [{ kind: 'start' }, { kind: 'stop' }] });
  expect(known(body.series.serverMemory)[0]).toBeGreaterThan(10_000_000);
  expect(known(body.series.sidecarMemory)[0]).toBeGreaterThan(10_000_000);
  expect(known(body.series.calls)[0]).toBeGreaterThan(0);
  expect(known(body.series.failures)[0]).toBeCloseTo((known(body.series.calls)[0] ?? 0) / 2, 1);
  expect(known(body.series.players)).toEqual([]);
});

it('a restart has a mark of its own', async () => {
  await owner.post('/api/server/start');
  await expect.poll(state).toBe('running');
  const { pid } = panel.services.server.control.status();
  await owner.post('/api/server/restart');
  await expect.poll(() => panel.services.server.control.status().pid ?? pid).not.toBe(pid);
  await expect.poll(state).toBe('running');
  const { body } = await owner.get<ChartsAnswer>('/api/charts?range=1h');
  expect(body.marks.map(({ kind }) => kind).slice(-2)).toEqual(['start', 'restart']);
});
