import { expect, it, onTestFinished } from 'vitest';
import type { NamespacesAnswer } from '#panel/shapes/database.ts';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { startTestPanel } from '../support/panel.ts';

const SORTED = ['extra_2', 'extra_10', 'Extra_10'];

it('bundles and tables are listed by the numbers in their names', async () => {
  const panel = await startTestPanel({ settings: { backend: 'command', bundles: SORTED.toReversed() } });
  const api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  onTestFinished(async () => {
    await api.close();
    await panel.stop();
  });
  const owner = await panel.owner();
  const { bundles } = (await owner.get<{ bundles: { name: string }[] }>('/api/bundles')).body;
  expect(bundles.map(({ name }) => name)).toEqual(SORTED);
  const columns = [{ name: 'text', type: 'text' }];
  const tables = ['extra_10', 'extra_2'].map((name) => ({ name, columns }));
  await api.must('schema.sync', { namespace: 'game', schema: { tables } });
  const { namespaces } = (await owner.get<NamespacesAnswer>('/api/database/namespaces')).body;
  expect(namespaces[0]?.tables.map(({ name }) => name)).toEqual(['extra_2', 'extra_10']);
});
