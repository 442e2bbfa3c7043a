import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Npm } from '#panel/packages/npm.ts';
import type { NpmTool } from '#panel/tools/npm-tool.ts';
import { ReleaseZip } from '#panel/updates/release-zip.ts';
import { runWork } from '#panel/work/run-work.ts';
import {
  fillDisk,
  type HeldDisk,
  holdBlockDisk,
  holdSmallDisk,
  whyNoBlockDisk,
  whyNoSmallDisk,
} from '#scripts/servers/small-disk.ts';
import { describeIf } from '#support/describe-if.ts';
import type { Filling } from '#support/fill-at-call.ts';
import { noRegistry, npmFolder } from '#support/npm-registry.ts';
import { testFolder } from '#support/test-folder.ts';
import { writeFiles } from '../panel/support/install-rig.ts';
import { rawZip } from '../panel/support/raw-zip.ts';
import { CONFIG, FullDiskWorld, GOODS } from './full-disk-world.ts';

/** Each step that writes, in the order of an install: a later one proves that the earlier ones can be repeated. */
const STEPS: readonly (readonly [string, Filling['kind']])[] = [
  ['mkdirSync staging', 'files'],
  ['openSync bundle.json', 'files'],
  ['writeSync bundle.json', 'bytes'],
  ['mkdirSync zones', 'files'],
  ['writeSync goods', 'short'],
  ['copyFileSync config.lua', 'bytes'],
  ['copyFileSync config.lua', 'files'],
  ['mkdirSync versions', 'files'],
];

const BUILD_STEPS: typeof STEPS = [
  ['mkdir shop', 'files'],
  ['open goods', 'files'],
  ['writeFile goods', 'short'],
];
const PROJECTS = '/api/bundle-tools/projects';
const BUILD = { name: 'shop', apply: 'now', install: true };

let world: FullDiskWorld;
const BOTH_OLD = { shop: 'started 1.0.0', bank: 'started 1.0.0' };
const fullDisk = (folder: string) =>
  expect.stringMatching(new RegExp(`^the disk of ${folder}\\S* is full: \\d+ MiB are free, \\d+ MiB are needed`));

function fullAtSteps(): void {
  let upload = '';

  beforeAll(async () => {
    world = await FullDiskWorld.open('game');
    await world.client.post('/api/server/start');
    await vi.waitFor(async () => expect(await world.states()).toEqual(BOTH_OLD), { timeout: 30_000, interval: 20 });
    upload = await world.upload('2.0.0');
  });
  afterAll(() => world.close());

  it.each(STEPS)('before %s (%s): the install fails, and nothing that runs is touched', async (before, kind) => {
    world.fillAt({ before, kind });
    const failed = await world.install(upload);
    expect(failed).toMatchObject({ state: 'failed', error: 'disk.full', message: fullDisk(world.at) });
    expect([world.versions(), await world.states()]).toEqual([['1.0.0', '1.0.0'], BOTH_OLD]);
    expect(world.staged()).toEqual([]);
    world.makeRoom();
  });

  it('the same upload is installed as soon as there is room', async () => {
    const done = await world.install(upload);
    expect(done).toMatchObject({ state: 'succeeded', outcome: { bundles: [{ state: 'kept' }, { state: 'kept' }] } });
    expect([world.versions(), world.read('bundles/shop/config.lua')]).toEqual([['2.0.0', '2.0.0'], CONFIG]);
    expect(world.read('bundles/shop/zones/goods.txt')).toBe(GOODS);
  });

  it.each(BUILD_STEPS)('before %s (%s): a build fails', async (before, kind) => {
    if (before === BUILD_STEPS[0]?.[0]) await world.act(`${PROJECTS}/create`, { name: 'shop' });
    world.fillAt({ before, kind });
    const failed = await world.act(`${PROJECTS}/build`, BUILD);
    expect(failed).toMatchObject({ state: 'failed', error: 'disk.full', message: fullDisk(world.at) });
    expect([world.versions(), world.staged()]).toEqual([['2.0.0', '2.0.0'], []]);
    world.makeRoom();
  });

  it('the build works as soon as there is room', async () => {
    expect(await world.act(`${PROJECTS}/build`, BUILD)).toMatchObject({ state: 'succeeded' });
    expect(world.read('bundles/shop/zones/goods.txt')).toBe(GOODS);
  });

  it('refuses an install beforehand, and still rolls back', async () => {
    const next = await world.upload('3.0.0');
    fillDisk(world.disk);
    expect(await world.install(next)).toMatchObject({ error: 'disk.full', message: fullDisk(world.at) });
    const back = await world.act('/api/bundles/rollback', { name: 'bank' });
    expect(back).toMatchObject({
      state: 'succeeded',
      outcome: { bundles: [{ from: '2.0.0', to: '1.0.0', state: 'kept' }] },
    });
    expect([world.versions(), world.staged()]).toEqual([['2.0.0', '1.0.0'], []]);
  });
}

function fullForAll(): void {
  beforeAll(async () => {
    world = await FullDiskWorld.open('data', 'data/game');
  });
  afterAll(() => world.close());

  it('holds the data of the sidecar too: the job has failed, and its end can be read', async () => {
    const upload = await world.upload('2.0.0');
    world.fillAt({ before: 'writeSync goods', kind: 'bytes' });
    const failed = await world.install(upload);
    expect(failed).toMatchObject({ state: 'failed', error: 'disk.full' });
    expect([world.versions(), world.staged()]).toEqual([['1.0.0', '1.0.0'], []]);
    world.makeRoom();
    expect(await world.ended(failed.id)).toEqual(failed);
    expect(await world.install(upload)).toMatchObject({ state: 'succeeded' });
    expect(world.versions()).toEqual(['2.0.0', '2.0.0']);
  });

  it.each([
    ['a new repository', 'mkdirSync sources/shop.git'],
    ['another commit', 'mkdirSync home'],
  ])('git finds no room for %s: the owner reads which disk is full', async (_what, before) => {
    world.fillAt({ before, kind: 'bytes' });
    const failed = await world.act(`${PROJECTS}/create`, { name: 'shop' });
    expect(failed).toMatchObject({ state: 'failed', error: 'disk.full', message: fullDisk(world.at) });
    world.makeRoom();
    expect(await world.act(`${PROJECTS}/create`, { name: 'shop' })).toMatchObject({ state: 'succeeded' });
  });

  it('refuses an archive: while it arrives, and beforehand', async () => {
    const cut = await world.sendWhile(() => fillDisk(world.disk));
    expect(cut).toMatchObject({ status: 409, body: { error: 'disk.full', detail: fullDisk(world.at) } });
    expect((await world.send('3.0.0')).body).toMatchObject({ error: 'disk.full', detail: fullDisk(world.at) });
    world.makeRoom();
    expect(world.uploads()).toEqual([]);
    expect((await world.send('3.0.0')).status).toBe(200);
  });
}

/** No memory disk refuses a rename; ext4 does, if the folder that it leads to needs another block. */
function fullAtRenames(): void {
  let upload = '';

  beforeAll(async () => {
    world = await FullDiskWorld.open('game', 'game', holdBlockDisk);
    await world.client.post('/api/server/start');
    await vi.waitFor(async () => expect(await world.states()).toEqual(BOTH_OLD), { timeout: 30_000, interval: 20 });
    upload = await world.upload('2.0.0');
  });
  afterAll(() => world.close());

  it('the old version cannot be moved away: nothing is touched', async () => {
    world.fillAt({ before: 'renameSync bundles/shop', kind: 'names' });
    expect(await world.install(upload)).toMatchObject({
      state: 'failed',
      error: 'disk.full',
      message: fullDisk(world.at),
    });
    await expect.poll(() => world.states()).toEqual(BOTH_OLD);
    expect(world.versions()).toEqual(['1.0.0', '1.0.0']);
    world.makeRoom();
  });

  it('neither the new version nor the old one can be moved to its place: it is back with the next install', async () => {
    world.fillAt({ before: 'renameSync staging', kind: 'names' });
    expect(await world.install(upload)).toMatchObject({
      state: 'failed',
      error: 'disk.full',
      message: fullDisk(world.at),
    });
    expect(world.read('bundles/bank/bundle.json')).toBeNull();
    world.makeRoom();
    const done = await world.install(upload);
    expect(done).toMatchObject({ state: 'succeeded', outcome: { bundles: [{ from: '1.0.0' }, { from: '1.0.0' }] } });
    expect([world.versions(), world.read('bundles/bank/config.lua')]).toEqual([['2.0.0', '2.0.0'], CONFIG]);
    expect(world.staged()).toEqual([]);
  });

  it('the same in a rollback: it is back with the next start of the server', async () => {
    world.fillAt({ before: 'renameSync versions', kind: 'names' });
    const failed = await world.act('/api/bundles/rollback', { name: 'bank' });
    expect(failed).toMatchObject({ state: 'failed', error: 'disk.full' });
    expect(world.read('bundles/bank/bundle.json')).toBeNull();
    world.makeRoom();
    await world.client.post('/api/server/restart');
    await vi.waitFor(
      async () => expect(await world.states()).toEqual({ shop: 'started 2.0.0', bank: 'started 2.0.0' }),
      {
        ...{ timeout: 30_000, interval: 20 },
      },
    );
    expect(await world.act('/api/bundles/rollback', { name: 'bank' })).toMatchObject({ state: 'succeeded' });
    expect(world.versions()).toEqual(['2.0.0', '1.0.0']);
  });
}

/** Blocks for half of a file: a write ends in its middle. */
function fullInAFile(): void {
  let disk: HeldDisk;
  const folder = testFolder();
  const at = join(folder, 'disk');

  beforeAll(async () => {
    mkdirSync(at);
    disk = await holdSmallDisk(at, 2);
    fillDisk(disk.outside(at), 8192);
  });
  afterAll(() => disk.close());

  it('a version of a game server is not unpacked in part', async () => {
    writeFiles(join(folder, '12180'), { 'run.sh': GOODS });
    const work = runWork('unpack-server', { source: join(folder, '12180'), target: disk.outside(join(at, '12180')) });
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC' });
  });

  it('a release of the panel is not unpacked in part', async () => {
    const files = { 'main.js': createHash('sha256').update(GOODS).digest('hex') };
    const manifest = {
      ...{
        product: 'sidecar',
        version: '9.0.0',
        channel: 'stable',
        date: '2026-01-01',
        node: '>=22',
        keeper: 1,
        files,
      },
      formats: { panel: 1, database: 1, journal: 1 },
    };
    const zip = rawZip([
      { name: 'sidecar/RELEASE.json', data: JSON.stringify(manifest) },
      { name: 'sidecar/main.js', data: GOODS },
    ]);
    writeFileSync(join(folder, 'release.zip'), zip);
    const release = await ReleaseZip.open(join(folder, 'release.zip'), { keys: [], allowsUnsigned: true });
    const work = release.unpack(disk.outside(join(at, 'release')), new AbortController().signal, () => {});
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC' });
    release.close();
  });

  describeIf(noRegistry, 'npm', () => {
    it('finds no room: the owner reads which disk is full', async () => {
      const script = join(String(npmFolder), 'bin/npm-cli.js');
      const tool = { need: () => ({ script, version: '', origin: 'node' }) } satisfies Pick<NpmTool, 'need'>;
      const settings = () => ({ registry: '', minReleaseAgeDays: 0 });
      const npm = new Npm({
        tool: tool as unknown as NpmTool,
        settings,
        authoritiesFile: null,
        folder: join(folder, 'npm'),
      });
      const [place, { signal }] = [join(folder, 'package'), new AbortController()];
      writeFiles(place, { 'package.json': '{"name":"x","version":"1.0.0"}' });
      fillDisk(disk.outside(at));
      const work = npm.run(['pack', `--pack-destination=${disk.outside(at)}`], {
        folder: place,
        signal,
        timeoutMs: 60_000,
        onText: () => {},
      });
      await expect(work).rejects.toMatchObject({ key: 'disk.full', message: fullDisk(place) });
    });
  });
}

const noDisk = await whyNoSmallDisk();
// The closing list of `npm test` names it too, as `small disk`.
describeIf(noDisk, 'a disk of bundles that is really full', fullAtSteps);
describeIf(noDisk, 'a really full disk of everything', fullForAll);
describeIf(noDisk, 'a disk that becomes full in the middle of a file', fullInAFile);
// Made-up renames that fail are in `test/panel/installs/full-disk.test.ts`.
describeIf(await whyNoBlockDisk(), 'a full disk that refuses renames', fullAtRenames);
