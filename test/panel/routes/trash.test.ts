import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BundleInfo, DeleteInfo, TrashedBundle } from '#panel/shapes/bundles.ts';
import type { JobAnswer } from '#panel/shapes/jobs.ts';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;
let root: string;
let laterMs = 0;
const DAY_MS = 86_400_000;

const bundlesFolder = () => join(root, 'bundles');
const put = (name: string, manifest: object = {}) => {
  mkdirSync(join(bundlesFolder(), name, 'lib'), { recursive: true });
  const text = JSON.stringify({ version: '1.2.0', server: 'server.js', ...manifest });
  writeFileSync(join(bundlesFolder(), name, 'bundle.json'), text);
  writeFileSync(join(bundlesFolder(), name, 'server.js'), 'export default () => {};');
  writeFileSync(join(bundlesFolder(), name, 'lib/prices.json'), '{"bread":2}');
};
const infoOf = async (name: string) => (await owner.post('/api/bundles/delete-info', { name })).body.info as DeleteInfo;
const remove = async (name: string, more: object = {}) => {
  const { hash } = await infoOf(name);
  return owner.post('/api/bundles/delete', { name, confirm: name, hash, ...more });
};
const trashOf = async () => (await owner.get('/api/bundles/trash')).body.trash as TrashedBundle[];
const states = async () =>
  Object.fromEntries(
    ((await owner.get('/api/bundles')).body.bundles as BundleInfo[]).map((one) => [one.name, one.state]),
  );

async function ended(answer: { readonly body: Record<string, unknown> }): Promise<JobAnswer['status']> {
  const { id } = answer.body.status as JobAnswer['status'];
  const read = async () => (await owner.get(`/api/bundle-tools/jobs/${id}`)).body as unknown as JobAnswer;
  await expect.poll(async () => (await read()).status.endedAt).not.toBeNull();
  return (await read()).status;
}

beforeAll(async () => {
  root = testFolder();
  mkdirSync(bundlesFolder());
  panel = await startTestPanel({
    settings: { backend: 'standalone', serverRoot: root },
    now: () => Date.now() + laterMs,
  });
  owner = await panel.owner();
  panel.services.settings.update({ bundleTools: true });
});

afterAll(async () => {
  await panel.stop();
});

beforeEach(async () => {
  for (const { id } of await trashOf()) await owner.post('/api/bundles/purge', { id });
  for (const name of readdirSync(bundlesFolder())) rmSync(join(bundlesFolder(), name), { recursive: true });
  put('shop');
});

describe('the preview of a deletion', () => {
  it('says what goes, and until when it can come back', async () => {
    put('kiosk', { dependencies: ['shop'] });
    expect(await infoOf('shop')).toEqual({
      ...{ name: 'shop', files: 3, state: 'stopped', dependents: [], autostart: true, data: null, source: null },
      ...{ bytes: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      undoUntil: expect.any(String),
    });
  });

  it('is refused with the switch off, without the right, and for what is no bundle', async () => {
    const friend = await panel.account('friend', ['bundles.read']);
    expect((await friend.post('/api/bundles/delete-info', { name: 'shop' })).status).toBe(403);
    for (const name of ['nothing', '../shop', 'SHOP', '__proto__', 7, null]) {
      expect(await owner.post('/api/bundles/delete-info', { name })).toMatchObject({
        status: 404,
        body: { error: 'bundleTools.unknown' },
      });
    }
    panel.services.settings.update({ bundleTools: false });
    for (const path of ['delete-info', 'delete']) {
      const answer = await owner.post(`/api/bundles/${path}`, { name: 'shop' });
      expect(answer).toMatchObject({ status: 409, body: { error: 'bundleTools.disabled' } });
    }
    panel.services.settings.update({ bundleTools: true });
  });

  it('of the connector is refused, since every bundle needs it', async () => {
    put('db_connector');
    expect(await owner.post('/api/bundles/delete-info', { name: 'db_connector' })).toMatchObject({
      status: 409,
      body: { error: 'bundles.protected' },
    });
  });
});

describe('a deletion', () => {
  it('moves the bundle to the trash as it is, and comes back as it was', async () => {
    await owner.post('/api/bundles/autostart', { name: 'shop', autostart: false });
    symlinkSync('/etc/passwd', join(bundlesFolder(), 'shop/link'));
    expect(await ended(await remove('shop'))).toMatchObject({
      state: 'succeeded',
      outcome: { bundle: 'shop' },
    });
    expect(existsSync(join(bundlesFolder(), 'shop'))).toBe(false);
    expect(readFileSync(join(bundlesFolder(), '.autostart.json'), 'utf8')).toBe('{}\n');
    const [deleted] = await trashOf();
    expect(deleted).toMatchObject({
      ...{ name: 'shop', version: '1.2.0', by: 'owner' },
    });
    expect(Date.parse(deleted?.until ?? '') - Date.parse(deleted?.at ?? '')).toBe(14 * DAY_MS);
    expect(lstatSync(join(root, '.panel')).mode & 0o777).toBe(0o700);
    panel.services.settings.update({ bundleTools: false });
    const back = await ended(await owner.post('/api/bundles/restore', { id: deleted?.id }));
    panel.services.settings.update({ bundleTools: true });
    expect(back).toMatchObject({ state: 'succeeded', outcome: { bundle: 'shop' } });
    expect(readFileSync(join(bundlesFolder(), 'shop/lib/prices.json'), 'utf8')).toBe('{"bread":2}');
    expect(lstatSync(join(bundlesFolder(), 'shop/link')).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(join(bundlesFolder(), '.autostart.json'), 'utf8'))).toEqual({ shop: false });
    expect(await trashOf()).toEqual([]);
  });

  it('asks for the name, and for the bundle that was shown', async () => {
    const { hash } = await infoOf('shop');
    for (const confirm of ['', 'Shop', undefined, true]) {
      expect(await owner.post('/api/bundles/delete', { name: 'shop', confirm, hash })).toMatchObject({
        status: 400,
        body: { error: 'bundleTools.confirm', field: 'confirm' },
      });
    }
    writeFileSync(join(bundlesFolder(), 'shop/lib/prices.json'), '{"bread":3}');
    expect(await owner.post('/api/bundles/delete', { name: 'shop', confirm: 'shop', hash })).toMatchObject({
      status: 409,
      body: { error: 'bundles.changed' },
    });
    expect(existsSync(join(bundlesFolder(), 'shop'))).toBe(true);
  });

  it('of data and source needs their rights too, judged before anything else', async () => {
    const keeper = await panel.account('keeper', ['bundles.read', 'bundles.delete', 'bundles.stop']);
    for (const flag of [{ data: true }, { source: true }, { data: 'yes' }]) {
      const answer = await keeper.post('/api/bundles/delete', { name: 'nothing', ...flag });
      expect(answer).toMatchObject({ status: 403, body: { error: 'permission.missing' } });
    }
    expect(await owner.post('/api/bundles/delete', { name: 'shop', data: 'yes' })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.data' },
    });
  });

  it('asked for twice at once happens once', async () => {
    const { hash } = await infoOf('shop');
    const body = { name: 'shop', confirm: 'shop', hash };
    const answers = await Promise.all([1, 2, 3].map(() => owner.post('/api/bundles/delete', body)));
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(1);
    for (const { body: refused } of answers.filter(({ status }) => status !== 200)) {
      expect(['bundleTools.busy', 'bundleTools.unknown']).toContain(refused.error);
    }
    await ended(accepted[0] as (typeof answers)[0]);
    expect(await trashOf()).toHaveLength(1);
  });

  it('follows no link: neither in place of the bundle, nor of the folder of the trash', async () => {
    const outside = testFolder();
    writeFileSync(join(outside, 'bundle.json'), '{"version":"1.0.0","server":"a.js"}');
    symlinkSync(outside, join(bundlesFolder(), 'linked'));
    expect(await owner.post('/api/bundles/delete-info', { name: 'linked' })).toMatchObject({
      status: 409,
      body: { error: 'bundles.linked' },
    });
    expect(existsSync(join(outside, 'bundle.json'))).toBe(true);
    rmSync(join(root, '.panel'), { recursive: true, force: true });
    symlinkSync(outside, join(root, '.panel'));
    const job = await ended(await remove('shop'));
    expect(job).toMatchObject({ state: 'failed', error: 'bundles.linked' });
    rmSync(join(root, '.panel'));
    expect(readdirSync(outside)).toEqual(['bundle.json']);
    expect(existsSync(join(bundlesFolder(), 'shop/bundle.json'))).toBe(true);
  });

  it('stops the bundle and what needs it, and its return starts them again', async () => {
    put('kiosk', { dependencies: ['shop'] });
    put('town');
    await owner.post('/api/server/start');
    await expect.poll(states).toEqual({ kiosk: 'started', shop: 'started', town: 'started' });
    expect(await infoOf('shop')).toMatchObject({ state: 'started', dependents: ['kiosk'] });
    expect(await ended(await remove('shop'))).toMatchObject({ state: 'succeeded' });
    await expect.poll(states).toEqual({ kiosk: 'stopped', town: 'started' });
    const [deleted] = await trashOf();
    const back = await ended(await owner.post('/api/bundles/restore', { id: deleted?.id }));
    expect(back).toMatchObject({ state: 'succeeded', outcome: { started: ['shop', 'kiosk'] } });
    await expect.poll(states).toEqual({ kiosk: 'started', shop: 'started', town: 'started' });
    await owner.post('/api/server/stop');
    await expect.poll(async () => (await owner.get('/api/status')).body.status).toMatchObject({ state: 'stopped' });
  });
});

describe('the trash', () => {
  it('gives nothing back over another bundle, also one that differs by case alone', async () => {
    await ended(await remove('shop'));
    const [deleted] = await trashOf();
    for (const name of ['shop', 'Shop']) {
      put(name);
      expect(await owner.post('/api/bundles/restore', { id: deleted?.id })).toMatchObject({
        status: 409,
        body: { error: 'bundles.exists' },
      });
      rmSync(join(bundlesFolder(), name), { recursive: true });
    }
    // No bundle, but in its place all the same.
    writeFileSync(join(bundlesFolder(), 'SHOP'), 'a file');
    const job = await ended(await owner.post('/api/bundles/restore', { id: deleted?.id }));
    expect(job).toMatchObject({ state: 'failed', error: 'bundles.exists' });
    expect(await trashOf()).toHaveLength(1);
  });

  it('gives nothing back twice, and nothing that was removed for good', async () => {
    await ended(await remove('shop'));
    const [deleted] = await trashOf();
    await ended(await owner.post('/api/bundles/restore', { id: deleted?.id }));
    for (const path of ['restore', 'purge']) {
      for (const id of [deleted?.id, '../../bundles', undefined, 7]) {
        expect(await owner.post(`/api/bundles/${path}`, { id })).toMatchObject({
          status: 404,
          body: { error: 'bundleTools.unknown' },
        });
      }
    }
    await ended(await remove('shop'));
    const [again] = await trashOf();
    const folder = join(root, '.panel/trash', again?.id ?? '');
    const outside = testFolder();
    writeFileSync(join(outside, 'kept'), '');
    symlinkSync(outside, join(folder, 'out'));
    expect((await owner.post('/api/bundles/purge', { id: again?.id })).status).toBe(200);
    expect(existsSync(folder)).toBe(false);
    expect(readdirSync(outside)).toEqual(['kept']);
    expect((await owner.post('/api/bundles/restore', { id: again?.id })).status).toBe(404);
  });
});

describe('the data of a deleted bundle', () => {
  it('goes to quarantine with it, and comes back with it', async () => {
    const api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
    const table = (name: string) => ({ name, primaryKey: ['id'], columns: [{ name: 'id', type: 'int64' }] });
    await api.must('schema.sync', { namespace: 'game', schema: { tables: [table('players')] } });
    const declare = (dryRun: boolean) =>
      api.must('schema.extend', {
        ...{ namespace: 'game', part: 'shop', dryRun },
        schema: {
          tables: [table('offers'), { name: 'players', columns: [{ name: 'coupons', type: 'int32', default: 0 }] }],
        },
      });
    await declare(false);
    await api.must('insert', { namespace: 'game', table: 'offers', rows: [{ id: 1 }, { id: 2 }] });
    const info = await infoOf('shop');
    expect(info.data).toEqual({
      tables: [
        { name: 'game.offers', rows: 2 },
        { name: 'game.players.coupons', rows: 0 },
      ],
    });
    // The same tables are on its page, without a preview in the audit log.
    expect((await owner.get('/api/bundles/data?name=shop')).body).toEqual({ ok: true, ...info.data });
    expect((await owner.get('/api/bundles/data?name=nothing')).status).toBe(404);
    const job = await ended(await remove('shop', { data: true }));
    expect(job).toMatchObject({ state: 'succeeded', outcome: { quarantined: 2 } });
    expect((await infoOfData()).map(({ table: name }) => name).sort()).toEqual(['offers', 'players']);
    const [deleted] = await trashOf();
    const back = await ended(await owner.post('/api/bundles/restore', { id: deleted?.id }));
    expect(back).toMatchObject({ state: 'succeeded', outcome: { restored: 2 } });
    expect(await infoOfData()).toEqual([]);
    expect((await infoOf('shop')).data).toEqual(info.data);
    await api.close();
  });

  const infoOfData = async () =>
    (await owner.get('/api/database/quarantine')).body.objects as { readonly table: string }[];
});

it('the trash forgets what is too old', async () => {
  await ended(await remove('shop'));
  const { trash } = panel.services;
  laterMs += 14 * DAY_MS - 60_000;
  await trash.sweep();
  expect(trash.list()).toHaveLength(1);
  laterMs += 60_000;
  await trash.sweep();
  expect(trash.list()).toEqual([]);
  expect(readdirSync(join(root, '.panel/trash'))).toEqual([]);
});
