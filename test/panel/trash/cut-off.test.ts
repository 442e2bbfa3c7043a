import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { type TrashRow, TrashStore } from '#panel/trash/trash-store.ts';
import { testFolder } from '#support/test-folder.ts';
import { LEFT_JOB, leaveJob } from '../support/left-job.ts';
import { startTestPanel } from '../support/panel.ts';

const SETTINGS = { backend: 'standalone', bundleTools: true } as const;

interface Left {
  readonly root: string;
  readonly folder: string;
  readonly row: TrashRow;
}

/** A panel's files with a bundle `shop`, as an earlier panel left them, and what its job of deleting has planned. */
async function leftPanel(): Promise<Left> {
  const root = testFolder();
  mkdirSync(join(root, 'bundles/shop'), { recursive: true });
  mkdirSync(join(root, '.panel/trash'), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, 'bundles/shop/bundle.json'), '{"version":"1.2.0","server":"server.js"}');
  const panel = await startTestPanel({ settings: { ...SETTINGS, serverRoot: root } });
  await panel.owner();
  await panel.stop();
  const row = {
    ...{ id: '0123456789abcdef', name: 'shop', version: '1.2.0', by: 'owner', atEpochMs: Date.now(), bytes: 40 },
    ...{ bundles: join(root, 'bundles'), way: 'shop', folder: join(root, '.panel/trash/0123456789abcdef') },
    ...{ autostart: null, isEnsured: false, ran: [], quarantined: [] },
  };
  return { root, folder: panel.folder, row };
}

/** Starts a panel on these files; resolves with the state of the job when it has ended. */
async function nextStart({
  root,
  folder,
}: Left): Promise<{ readonly state: string; readonly trash: readonly string[] }> {
  const panel = await startTestPanel({ folder, settings: { ...SETTINGS, serverRoot: root } });
  const owner = await panel.owner();
  const read = async () => (await owner.get(`/api/bundle-tools/jobs/${LEFT_JOB}`)).body.status as never;
  await expect.poll(read).toMatchObject({ endedAt: expect.any(String) });
  const { state } = (await read()) as { state: string };
  const trash = panel.services.trash.list().map(({ name }) => name);
  await panel.stop();
  return { state, trash };
}

describe('a job that a crash cut off', () => {
  const deletion = (row: TrashRow) => ({
    ...{ kind: 'bundles.delete', input: { name: 'shop', hash: '', data: false, source: false } },
    steps: [{ name: 'move', data: { row } }],
  });

  it('before the bundle was moved, is finished: the bundle is in the trash', async () => {
    const left = await leftPanel();
    leaveJob(left.folder, deletion(left.row));
    expect(await nextStart(left)).toEqual({ state: 'succeeded', trash: ['shop'] });
    expect(readdirSync(join(left.root, 'bundles'))).toEqual([]);
    expect(existsSync(join(left.row.folder, 'bundle.json'))).toBe(true);
  });

  it('after the bundle was moved, and before that was written down, is finished the same way', async () => {
    const left = await leftPanel();
    leaveJob(left.folder, deletion(left.row));
    renameSync(join(left.root, 'bundles/shop'), left.row.folder);
    expect(await nextStart(left)).toEqual({ state: 'succeeded', trash: ['shop'] });
    expect(existsSync(join(left.row.folder, 'bundle.json'))).toBe(true);
  });

  it.each([['before'], ['after']])('%s the bundle was moved back, is finished: the bundle is there', async (when) => {
    const left = await leftPanel();
    const store = openPanelStore(join(left.folder, 'data/panel.sqlite'));
    new TrashStore(store).save(left.row, when === 'before' ? 'kept' : 'returning');
    store.close();
    if (when === 'before') renameSync(join(left.root, 'bundles/shop'), left.row.folder);
    leaveJob(left.folder, {
      ...{ kind: 'bundles.restore', input: { id: left.row.id, name: 'shop', data: false } },
      steps: [{ name: 'return', data: { row: left.row } }],
    });
    expect(await nextStart(left)).toEqual({ state: 'succeeded', trash: [] });
    expect(readdirSync(join(left.root, 'bundles'))).toEqual(['shop']);
  });

  it('while it was removed for good, is removed at the next start', async () => {
    const left = await leftPanel();
    const store = openPanelStore(join(left.folder, 'data/panel.sqlite'));
    new TrashStore(store).save(left.row, 'purging');
    store.close();
    renameSync(join(left.root, 'bundles/shop'), left.row.folder);
    const panel = await startTestPanel({ folder: left.folder, settings: { ...SETTINGS, serverRoot: left.root } });
    await expect.poll(() => existsSync(left.row.folder)).toBe(false);
    await panel.stop();
  });
});
