import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EditedFiles } from '#panel/shapes/installs.ts';
import { secretOf } from '#support/config-folder.ts';
import { SignedClient } from '#support/signed-client.ts';
import { testFolder } from '#support/test-folder.ts';
import { bundleOf, CRASHES, FAILS, HANGS, InstallRig, WORKS } from '../support/install-rig.ts';

describe('on a running server', () => {
  let rig: InstallRig;

  beforeAll(async () => {
    rig = await InstallRig.start({
      shop: bundleOf('1.0.0'),
      bank: bundleOf('1.0.0', WORKS, { dependencies: ['shop'] }),
      idle: bundleOf('1.0.0', WORKS, { autostart: false }),
    });
    await rig.run();
  });
  afterAll(() => rig.stop());

  it('a version that runs is kept, with its dependents started again', async () => {
    await expect
      .poll(() => rig.states())
      .toEqual({ bank: 'started 1.0.0', idle: 'stopped 1.0.0', shop: 'started 1.0.0' });
    const { state, outcome } = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: bundleOf('1.1.0') }] }));
    expect(outcome).toEqual({
      bundles: [{ name: 'shop', from: '1.0.0', to: '1.1.0', state: 'kept', reason: '' }],
      quarantine: [],
    });
    expect(state).toBe('succeeded');
    expect(await rig.states()).toEqual({ bank: 'started 1.0.0', idle: 'stopped 1.0.0', shop: 'started 1.1.0' });
    expect(await rig.versions('shop')).toMatchObject([
      { number: 2, version: '1.1.0', origin: 'upload', by: 'owner', state: 'kept', isCurrent: true, isKept: false },
      { number: 1, version: '1.0.0', origin: 'hand', by: '', state: 'kept', isCurrent: false, isKept: true },
    ]);
    expect(existsSync(join(rig.root, '.panel/versions/shop/1/bundle.json'))).toBe(true);
    expect(readdirSync(join(rig.root, '.panel/staging'))).toEqual([]);
  });

  it('one that fails goes back, and the older one runs with its dependents', async () => {
    const job = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: bundleOf('1.2.0', FAILS) }] }));
    expect(job).toMatchObject({
      state: 'failed',
      message: 'shop 1.2.0 was taken back: shop failed: Error: no goods. 1.1.0 is in place',
      outcome: { bundles: [{ name: 'shop', state: 'rolledBack', reason: 'shop failed: Error: no goods' }] },
    });
    await expect
      .poll(() => rig.states())
      .toEqual({ bank: 'started 1.0.0', idle: 'stopped 1.0.0', shop: 'started 1.1.0' });
    expect(await rig.versionList('shop')).toEqual(['3 1.2.0 rolledBack', '2 1.1.0 kept *', '1 1.0.0 kept']);
  });

  it('bundles of one job are taken back together', async () => {
    const bundles = [
      { name: 'shop', files: bundleOf('1.3.0') },
      { name: 'bank', files: bundleOf('1.3.0', FAILS, { dependencies: ['shop'] }) },
    ];
    const { outcome } = await rig.ended(rig.put({ bundles }));
    expect(outcome.bundles.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'shop rolledBack',
      'bank rolledBack',
    ]);
    await expect.poll(() => rig.states()).toMatchObject({ bank: 'started 1.0.0', shop: 'started 1.1.0' });
  });

  it('a new bundle that starts with the server is started and kept; one that fails is stopped and left', async () => {
    const kept = await rig.ended(rig.put({ bundles: [{ name: 'fresh', files: bundleOf('0.1.0') }] }));
    expect(kept.outcome.bundles).toEqual([{ name: 'fresh', from: null, to: '0.1.0', state: 'kept', reason: '' }]);
    expect(kept.message).toBe('fresh 0.1.0: in place, proven');
    const failed = await rig.ended(rig.put({ bundles: [{ name: 'broken', files: bundleOf('0.1.0', FAILS) }] }));
    expect(failed.outcome.bundles).toMatchObject([{ name: 'broken', state: 'failed' }]);
    await expect.poll(() => rig.states()).toMatchObject({ fresh: 'started 0.1.0', broken: 'stopped 0.1.0' });
    expect(await rig.versionList('broken')).toEqual(['1 0.1.0 failed *']);
  });

  it('a stopped one stays stopped, unproven', async () => {
    const { outcome } = await rig.ended(
      rig.put({ bundles: [{ name: 'idle', files: bundleOf('2.0.0', WORKS, { autostart: false }) }] }),
    );
    expect(outcome.bundles).toMatchObject([{ name: 'idle', state: 'unproven' }]);
    expect((await rig.states()).idle).toBe('stopped 1.0.0');
    expect(rig.read('idle/bundle.json')).toContain('2.0.0');
  });

  it('a rollback puts the last version back, and a second one undoes the first', async () => {
    const rollback = async (body: { name: string; version?: number }) => rig.ended(await rig.rollback(body));
    expect((await rollback({ name: 'shop' })).outcome.bundles).toMatchObject([
      { from: '1.1.0', to: '1.0.0', state: 'kept' },
    ]);
    expect(await rig.states()).toMatchObject({ shop: 'started 1.0.0', bank: 'started 1.0.0' });
    // Also with the switch off.
    await rig.owner.post('/api/settings', { bundleTools: false });
    expect((await rollback({ name: 'shop' })).outcome.bundles).toMatchObject([
      { from: '1.0.0', to: '1.1.0', state: 'kept' },
    ]);
    expect(await rig.versionList('shop')).toContain('2 1.1.0 kept *');
    await rig.owner.post('/api/settings', { bundleTools: true });
    expect((await rollback({ name: 'shop', version: 1 })).outcome.bundles).toMatchObject([{ to: '1.0.0' }]);
    expect((await rollback({ name: 'shop', version: 2 })).outcome.bundles).toMatchObject([{ to: '1.1.0' }]);
    for (const body of [{ name: 'nothing' }, { name: 'shop', version: 99 }, { name: '../shop' }]) {
      expect(await rig.owner.post('/api/bundles/rollback', body)).toMatchObject({
        status: 404,
        body: { error: 'bundleTools.unknown' },
      });
    }
  });

  it('the outcome names what went into quarantine inside the gate', async () => {
    const api = new SignedClient({ address: rig.panel.apiAddress, kid: 'local', secret: secretOf('local') });
    const tableOf = (name: string) => ({ name, primaryKey: ['id'], columns: [{ name: 'id', type: 'int64' }] });
    const sync = (...names: string[]) =>
      api.must('schema.sync', { namespace: 'game', schema: { tables: names.map(tableOf) } });
    await sync('goods', 'prices', 'older');
    await sync('goods', 'prices');
    // It is up once the sync is done.
    const file = join(testFolder(), 'synced');
    const waits = `import { existsSync } from 'node:fs';
      export default async () => {
        while (!existsSync(${JSON.stringify(file)})) await new Promise((resolve) => setTimeout(resolve, 10));
      };`;
    const id = rig.put({ bundles: [{ name: 'bank', files: bundleOf('1.0.0', waits, { dependencies: ['shop'] }) }] });
    await expect.poll(async () => (await rig.job(id)).message, { interval: 5 }).toMatch(/^starting bank/);
    await sync('goods');
    writeFileSync(file, '');
    expect((await rig.ended(id)).outcome.quarantine).toEqual(['game.prices']);
    await api.close();
  });

  it('keeps as many older versions as the owner wants', async () => {
    await rig.owner.post('/api/bundle-tools/settings', { keepVersions: 1 });
    await rig.ended(rig.put({ bundles: [{ name: 'fresh', files: bundleOf('0.2.0') }] }));
    await rig.ended(rig.put({ bundles: [{ name: 'fresh', files: bundleOf('0.3.0') }] }));
    expect(readdirSync(join(rig.root, '.panel/versions/fresh'))).toEqual(['2']);
    expect((await rig.versions('fresh')).map(({ isKept }) => isKept)).toEqual([false, true, false]);
    await rig.owner.post('/api/bundle-tools/settings', { keepVersions: 3 });
  });

  it('files edited by hand stop it, until they are kept or replaced on purpose', async () => {
    writeFileSync(join(rig.root, 'bundles/fresh/config.lua'), 'price = 9');
    writeFileSync(join(rig.root, 'bundles/fresh/server.js'), `${WORKS} // mine`);
    const put = (more: object, keep?: string[]) =>
      rig.ended(
        rig.put({ bundles: [{ name: 'fresh', files: bundleOf('0.4.0'), ...(keep ? { keep } : {}) }], ...more }),
      );
    expect(await put({})).toMatchObject({ state: 'failed', error: 'bundles.changed' });
    expect(await put({}, ['config.lua'])).toMatchObject({ error: 'bundles.changed' });
    expect(rig.read('fresh/bundle.json')).toContain('0.3.0');
    expect((await put({ overwrite: true }, ['config.lua'])).outcome.bundles).toMatchObject([{ state: 'kept' }]);
    expect([rig.read('fresh/config.lua'), rig.read('fresh/server.js')]).toEqual(['price = 9', WORKS]);
    // Remembered, also when the owner edits it again.
    writeFileSync(join(rig.root, 'bundles/fresh/config.lua'), 'price = 10');
    expect((await put({})).outcome.bundles).toMatchObject([{ state: 'kept' }]);
    expect(rig.read('fresh/config.lua')).toBe('price = 10');
  });

  it('files edited by hand are listed for the page, beside those that are carried over', async () => {
    const edited = async (name: string) => (await rig.owner.get(`/api/bundles/edited?name=${name}`)).body;
    writeFileSync(join(rig.root, 'bundles/fresh/config.lua'), 'price = 11');
    const none = { isManaged: true, files: [], more: false, kept: ['config.lua'] };
    expect(await edited('fresh')).toEqual({ ok: true, edited: none });
    mkdirSync(join(rig.root, 'bundles/fresh/cache'));
    for (let file = 0; file < 1001; file += 1) writeFileSync(join(rig.root, `bundles/fresh/cache/${file}`), '');
    writeFileSync(join(rig.root, 'bundles/fresh/a.lua'), '');
    const { files, more } = (await edited('fresh')).edited as EditedFiles;
    expect([files[0], files.length, more]).toEqual(['a.lua', 1000, true]);
    rmSync(join(rig.root, 'bundles/fresh/cache'), { recursive: true });
    rmSync(join(rig.root, 'bundles/fresh/a.lua'));
    // A folder that was put there by hand has nothing to be compared with.
    mkdirSync(join(rig.root, 'bundles/manual'));
    expect((await edited('manual')).edited).toMatchObject({ isManaged: false, files: [] });
    rmSync(join(rig.root, 'bundles/manual'), { recursive: true });
    for (const name of ['nothing', '..', 'fresh/cache', '']) {
      expect(await edited(name)).toEqual({ ok: false, error: 'bundles.unknown', field: 'name' });
    }
  });

  it('a crash inside the gate goes back before the server starts again, and its record says so', async () => {
    await rig.owner.post('/api/settings', { autoStartServer: false });
    const job = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: bundleOf('1.4.0', CRASHES) }] }));
    expect(job.outcome.bundles).toMatchObject([{ state: 'rolledBack', reason: 'the server ended: exit code 9' }]);
    await expect.poll(() => rig.states()).toMatchObject({ shop: 'started 1.1.0', bank: 'started 1.0.0' });
    const { body } = await rig.owner.get<{ crashes: { id: number }[] }>('/api/crashes');
    const { body: record } = await rig.owner.get<{ crash: object }>(`/api/crashes/${body.crashes[0]?.id}`);
    expect(JSON.stringify(record)).toContain('shop 1.4.0 had just been put in place, and goes back');
  });

  it('a server that hangs inside the gate is killed after ten seconds, and runs again with the older version', async () => {
    await rig.owner.post('/api/bundle-tools/settings', { gateSeconds: 60 });
    const job = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: bundleOf('1.5.0', HANGS) }] }));
    expect(job.outcome.bundles).toMatchObject([{ state: 'rolledBack', reason: 'the server did not answer' }]);
    await expect.poll(() => rig.states()).toMatchObject({ shop: 'started 1.1.0' });
    await rig.owner.post('/api/bundle-tools/settings', { gateSeconds: 1 });
  });

  it('a stop by an account wins over the gate; the next start is the proof', async () => {
    await rig.owner.post('/api/bundle-tools/settings', { gateSeconds: 600 });
    const id = rig.put({ bundles: [{ name: 'shop', files: bundleOf('1.6.0') }] });
    await expect.poll(() => rig.states()).toMatchObject({ shop: 'started 1.6.0' });
    await rig.owner.post('/api/server/stop');
    expect(await rig.ended(id)).toMatchObject({ state: 'succeeded', outcome: { bundles: [{ state: 'unproven' }] } });
    await rig.serverIs('stopped');
    await rig.owner.post('/api/bundle-tools/settings', { gateSeconds: 1 });
    await rig.run();
    await expect.poll(async () => (await rig.versionList('shop'))[0]).toMatch(/1\.6\.0 kept \*$/);
  });
});

describe('on a stopped server', () => {
  let rig: InstallRig;

  beforeAll(async () => {
    rig = await InstallRig.start({ shop: bundleOf('1.0.0'), bank: bundleOf('1.0.0') });
  });
  afterAll(() => rig.stop());

  it('it is in place at once, and all that is unproven goes back together if the next start fails', async () => {
    const first = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: bundleOf('1.1.0') }] }));
    expect(first.outcome.bundles).toMatchObject([{ from: '1.0.0', to: '1.1.0', state: 'unproven' }]);
    expect(rig.read('shop/bundle.json')).toContain('1.1.0');
    const later = await rig.ended(
      rig.put({ bundles: [{ name: 'bank', files: bundleOf('1.1.0', FAILS) }], apply: 'later' }),
    );
    expect(later.outcome.bundles).toMatchObject([{ state: 'unproven' }]);
    expect(rig.read('bank/bundle.json')).toContain('1.0.0');
    expect(await rig.versionList('bank')).toEqual(['2 1.1.0 pending']);
    await rig.run();
    await expect.poll(() => rig.states()).toEqual({ shop: 'started 1.0.0', bank: 'started 1.0.0' });
    expect(await rig.versionList('shop')).toEqual(['2 1.1.0 rolledBack', '1 1.0.0 kept *']);
    expect(await rig.versionList('bank')).toEqual(['2 1.1.0 rolledBack', '1 1.0.0 kept *']);
    await rig.owner.post('/api/server/stop');
    await rig.serverIs('stopped');
  });

  it('a later install of the same bundle replaces one that waits', async () => {
    await rig.ended(rig.put({ bundles: [{ name: 'bank', files: bundleOf('1.2.0', FAILS) }], apply: 'later' }));
    await rig.ended(rig.put({ bundles: [{ name: 'bank', files: bundleOf('1.3.0') }], apply: 'later' }));
    await rig.run();
    await expect.poll(async () => (await rig.versionList('bank'))[0]).toMatch(/1\.3\.0 kept \*$/);
    expect(rig.read('bank/bundle.json')).toContain('1.3.0');
    await rig.owner.post('/api/server/stop');
    await rig.serverIs('stopped');
  });

  it('a crash at that start goes back before the next, and the server is started once', async () => {
    await rig.ended(rig.put({ bundles: [{ name: 'bank', files: bundleOf('1.4.0', CRASHES) }] }));
    await rig.owner.post('/api/server/start');
    await expect.poll(() => rig.states()).toMatchObject({ bank: 'started 1.3.0' });
    await rig.owner.post('/api/server/stop');
    await rig.serverIs('stopped');
  });

  it('a link in the place of a bundle is refused, and not followed', async () => {
    const outside = testFolder();
    mkdirSync(join(outside, 'secret'));
    symlinkSync(join(outside, 'secret'), join(rig.root, 'bundles/linked'));
    expect(await rig.ended(rig.put({ bundles: [{ name: 'linked', files: bundleOf('1.0.0') }] }))).toMatchObject({
      state: 'failed',
      error: 'bundles.linked',
    });
    expect(readdirSync(join(outside, 'secret'))).toEqual([]);
    rmSync(join(rig.root, 'bundles/linked'));
  });

  it('a link in the place of the folder of the panel is refused, and not followed', async () => {
    const outside = testFolder();
    renameSync(join(rig.root, '.panel'), join(rig.root, '.panel.away'));
    symlinkSync(outside, join(rig.root, '.panel'));
    const job = await rig.ended(rig.put({ bundles: [{ name: 'shop', files: bundleOf('9.0.0') }] }));
    expect(job).toMatchObject({ state: 'failed', error: 'bundles.linked' });
    expect(readdirSync(outside)).toEqual([]);
    rmSync(join(rig.root, '.panel'));
    renameSync(join(rig.root, '.panel.away'), join(rig.root, '.panel'));
  });

  it('a link inside of a staged bundle is refused', async () => {
    const { jobs, installs } = rig.services;
    jobs.define({
      ...{
        kind: 'test.link',
        lane: 'switch',
        access: { kind: 'all', permissions: ['bundles.upload'] },
        subjects: () => [],
      },
      run: async (job) => {
        const outcome = await installs.staging(job, { bytes: 0 }, async (staging) => {
          const folder = join(staging, 'shop');
          mkdirSync(folder);
          symlinkSync('/etc/passwd', join(folder, 'server.js'));
          const bundles = [{ name: 'shop', stagedFolder: folder, origin: 'upload' }];
          return await installs.put(job, { bundles, apply: 'now', overwrite: true });
        });
        return { ...outcome };
      },
    });
    const { id } = jobs.start(
      'test.link',
      {},
      { accountId: 1, username: 'owner', permissions: new Set(['bundles.upload']) },
    );
    expect(await rig.ended(id)).toMatchObject({ error: 'bundles.linked' });
    expect(rig.read('shop/server.js')).toBe(WORKS);
  });

  it.each([['SHOP'], ['Shop']])('a name that differs by case is refused: %s', async (name) => {
    expect(await rig.ended(rig.put({ bundles: [{ name, files: bundleOf('1.0.0') }] }))).toMatchObject({
      error: 'bundles.exists',
    });
  });

  it.each([['..'], ['a/b'], ['.hidden'], ['con'], ['a.'], ['a\nquit']])(
    'a name that is none is refused: %j',
    async (name) => {
      const staged = join(rig.root, '.panel/staging/names/x');
      mkdirSync(staged, { recursive: true });
      const { jobs, installs } = rig.services;
      jobs.define({
        ...{
          kind: 'test.name',
          lane: 'switch',
          access: { kind: 'all', permissions: ['bundles.upload'] },
          subjects: () => [],
        },
        run: async (job) => ({
          ...(await installs.put(job, {
            bundles: [{ name, stagedFolder: staged, origin: 'upload' }],
            apply: 'now',
            overwrite: true,
          })),
        }),
      });
      const { id } = jobs.start(
        'test.name',
        {},
        { accountId: 1, username: 'owner', permissions: new Set(['bundles.upload']) },
      );
      expect(await rig.ended(id)).toMatchObject({ error: 'bundles.name' });
    },
  );

  it('bundles behind a link to another folder are switched there, with `.panel` beside them', async () => {
    const elsewhere = testFolder();
    renameSync(join(rig.root, 'bundles'), join(elsewhere, 'bundles'));
    symlinkSync(join(elsewhere, 'bundles'), join(rig.root, 'bundles'));
    const { outcome } = await rig.ended(
      rig.put({ bundles: [{ name: 'shop', files: bundleOf('3.0.0') }], overwrite: true }),
    );
    expect(outcome.bundles).toMatchObject([{ state: 'unproven' }]);
    expect(existsSync(join(elsewhere, '.panel/versions/shop'))).toBe(true);
    expect(statSync(join(elsewhere, '.panel')).mode & 0o777).toBe(0o700);
  });
});
