import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupsAnswer } from '#panel/shapes/backups.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { testFolder } from '#support/test-folder.ts';
import { useSidecarProgram } from '../support/backup-program.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const SCHEMA = { tables: [{ name: 'players', primaryKey: ['id'], columns: [{ name: 'id', type: 'int64' }] }] };
let panel: TestPanel;
let owner: PanelClient;
let api: SignedClient;

beforeAll(async () => {
  useSidecarProgram();
  panel = await startTestPanel({ config: { backup: { keep: 1 } } });
  owner = await panel.owner();
  api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
  await api.must('schema.sync', { namespace: 'game', schema: SCHEMA });
  await insert(1, 2, 3);
});

afterAll(async () => {
  await api.close();
  await panel.stop();
});

const insert = (...ids: number[]) =>
  api.must('insert', { namespace: 'game', table: 'players', rows: ids.map((id) => ({ id })) });
const read = async () => (await owner.get<BackupsAnswer>('/api/backups')).body;
const names = async () => (await read()).backups.map(({ name }) => name);
const rows = async (namespace = 'game') => {
  const { rows: found } = await api.must<{ rows: { id: number }[] }>('find', { namespace, table: 'players' });
  return found.map(({ id }) => Number(id)).sort();
};

async function ended(path: string, body: object = {}): Promise<JobView> {
  const started = await owner.post<{ status: JobView }>(`/api/backups/${path}`, body);
  expect(started).toMatchObject({ status: 200 });
  const { id } = started.body.status;
  await expect
    .poll(async () => (await read()).status, { timeout: 30_000 })
    .toMatchObject({ id, endedAt: expect.any(String) });
  return (await read()).status as JobView;
}

describe('backups of the panel', () => {
  it('are made, listed with what they hold, and compared with what is there now', async () => {
    const nothing = { ok: true, backups: [], drill: null, remote: null, continuous: null, status: null };
    expect(await read()).toEqual(nothing);
    expect(await ended('make')).toMatchObject({
      ...{ state: 'succeeded', outcome: { rows: 3, remote: null } },
      message: expect.stringMatching(/^Made backup-\S+: 3 rows, \d+ KiB$/),
    });
    const [backup] = (await read()).backups;
    expect(backup).toMatchObject({ where: 'local', namespaces: expect.arrayContaining(['game']), rows: 3 });
    await insert(4);
    const preview = await owner.post('/api/backups/preview', { name: backup?.name, where: 'local', namespace: 'game' });
    // biome-ignore lint/suspicious/noThenProperty: the contract's name, and a number
    expect(preview.body.tables).toEqual([{ namespace: 'game', table: 'players', then: 3, now: 4 }]);
  });

  it('are restored, and the restore is undone', async () => {
    const [name = ''] = await names();
    const restored = await ended('restore', { name, where: 'local', namespace: 'game', confirm: name });
    expect(restored).toMatchObject({ state: 'succeeded', outcome: { undo: expect.any(String), namespace: 'game' } });
    expect(await rows()).toEqual([1, 2, 3]);
    const { undo } = restored.outcome as { undo: string };
    // Only one backup is kept, and yet the restored one is not deleted for the way back.
    expect(await names()).toEqual([undo, name]);
    await ended('restore', { name: undo, where: 'local', namespace: 'game', confirm: undo });
    expect(await rows()).toEqual([1, 2, 3, 4]);
  });

  it('are restored beside what is there, and then replace nothing', async () => {
    const name = (await names()).at(-1) ?? '';
    const before = await names();
    const job = await ended('restore', { name, where: 'local', namespace: 'game', as: 'old_game', confirm: name });
    expect(job).toMatchObject({ state: 'succeeded', outcome: { undo: null } });
    expect([await rows(), await rows('old_game'), await names()]).toEqual([[1, 2, 3, 4], [1, 2, 3], before]);
  });

  it.each([
    ['another name as confirmation', 400, 'backups.confirm', { confirm: 'x' }],
    ['a new name for all namespaces', 400, 'backups.as', { as: 'other' }],
    ['a namespace that is no name', 400, 'backups.namespace', { namespace: '../x' }],
  ])('refuse %s', async (_name, status, error, changes) => {
    const [name = ''] = await names();
    const body = { name, where: 'local', confirm: name, ...changes };
    expect(await owner.post('/api/backups/restore', body)).toMatchObject({ status, body: { error } });
  });

  it('refuse what is no backup of the list', async () => {
    const name = '../../data';
    expect(await owner.post('/api/backups/preview', { name, where: 'local' })).toMatchObject({
      ...{ status: 409, body: { error: 'backups.refused', detail: expect.stringContaining('there is no backup') } },
    });
    expect(await ended('restore', { name, where: 'local', namespace: 'game', confirm: name })).toMatchObject({
      ...{ state: 'failed', error: 'backups.refused' },
    });
    expect(await rows()).toEqual([1, 2, 3, 4]);
  });
});

it('tell how far the copy of each write is behind, and that no drill has run for too long', async () => {
  const folder = testFolder();
  const at = new Date(Date.now() - 15 * 86_400_000).toISOString();
  const last = { at, ok: true, kind: 'opened', backup: null, seconds: 3, rows: 2, error: null };
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/backup-drill.json'), JSON.stringify({ last, lastSuccessAt: at, since: at }));
  const remote = { type: 'folder', path: testFolder() };
  const backup = { remote, continuous: { program: '/no/such/program' }, drill: { everyDays: 7 } };
  const other = await startTestPanel({ folder, config: { backup } });
  try {
    const client = await other.owner();
    const { body } = await client.get<BackupsAnswer>('/api/backups');
    expect(body.continuous).toEqual({ lagSeconds: expect.any(Number), isLate: false });
    expect(body.drill).toEqual({ ...last, isOverdue: true });
  } finally {
    await other.stop();
  }
});
