import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BundleInfo, BundleMetadata } from '#panel/shapes/bundles.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const listOf = async (client: PanelClient) => (await client.get('/api/bundles')).body.bundles as BundleInfo[];
const metadataOf = async (client: PanelClient) =>
  (await client.get('/api/bundles/metadata')).body.bundles as BundleMetadata[];

describe('tags and autostart of a standalone server', () => {
  const root = testFolder();
  const choices = join(root, 'bundles/.autostart.json');
  let panel: TestPanel;
  let owner: PanelClient;

  const put = (name: string, manifest: object) => {
    mkdirSync(join(root, 'bundles', name), { recursive: true });
    const text = JSON.stringify({ version: '1.0.0', server: 'server.js', ...manifest });
    writeFileSync(join(root, 'bundles', name, 'bundle.json'), text);
    writeFileSync(join(root, 'bundles', name, 'server.js'), 'export default () => {};');
  };
  const named = async (name: string) => (await metadataOf(owner)).find((one) => one.name === name);
  const set = (route: 'tags' | 'autostart', body: object, client = owner) => client.post(`/api/bundles/${route}`, body);

  beforeAll(async () => {
    put('shop', { tags: ['economy'] });
    put('events', { autostart: false });
    put('constructor', {});
    panel = await startTestPanel({ settings: { backend: 'standalone', serverRoot: root } });
    owner = await panel.owner();
    panel.services.settings.update({ bundleTools: true });
  });

  afterAll(async () => {
    await panel.stop();
  });

  it('are those of the manifests until the owner chooses', async () => {
    expect(await metadataOf(owner)).toEqual([
      { name: 'constructor', tags: [], ownTags: [], autostart: true, manifestAutostart: true },
      { name: 'events', tags: [], ownTags: [], autostart: false, manifestAutostart: false },
      { name: 'shop', tags: ['economy'], ownTags: [], autostart: true, manifestAutostart: true },
    ]);
  });

  it('are refused with the switch off, and without the right', async () => {
    panel.services.settings.update({ bundleTools: false });
    expect(await owner.get('/api/bundles/metadata')).toMatchObject({
      status: 409,
      body: { error: 'bundleTools.disabled' },
    });
    expect(await set('tags', { name: 'shop', tags: [] })).toMatchObject({ status: 409 });
    expect(await set('autostart', { name: 'shop', autostart: false })).toMatchObject({ status: 409 });
    panel.services.settings.update({ bundleTools: true });
    const friend = await panel.account('friend', ['bundles.read', 'bundles.tags']);
    expect((await set('autostart', { name: 'shop', autostart: false }, friend)).status).toBe(403);
    expect((await set('tags', { name: 'shop', tags: ['friends'] }, friend)).status).toBe(200);
    expect((await set('tags', { name: 'shop', tags: [] }, friend)).status).toBe(200);
  });

  it('tags stand beside those of the manifest, are shown in the list and told to every stream', async () => {
    const stream = await panel.events(owner);
    expect((await set('tags', { name: 'shop', tags: [' night ', 'economy', 'night', 'Ünïcode 🎣'] })).status).toBe(200);
    expect(await named('shop')).toMatchObject({
      tags: ['economy', 'night', 'Ünïcode 🎣'],
      ownTags: ['night', 'economy', 'Ünïcode 🎣'],
    });
    const tags = ['economy', 'night', 'Ünïcode 🎣'];
    expect((await listOf(owner)).find(({ name }) => name === 'shop')?.tags).toEqual(tags);
    await expect
      .poll(() => (stream.of('bundles').at(-1) as BundleInfo[] | undefined)?.find(({ name }) => name === 'shop')?.tags)
      .toEqual(tags);
    expect((await set('tags', { name: 'shop', tags: [] })).status).toBe(200);
    expect(await named('shop')).toMatchObject({ tags: ['economy'], ownTags: [] });
  });

  it.each([
    ['no list', 'night'],
    ['nothing', undefined],
    ['21 tags', Array.from({ length: 21 }, (_, index) => `tag ${index}`)],
    ['a tag of 41 characters', ['x'.repeat(41)]],
    ['an empty tag', ['  ']],
    ['a number', [7]],
    ['a control character', ['a\u0007']],
    ['a character that turns the direction', ['a\u202eb']],
    ['half a character', ['\ud83d']],
  ])('a tag is refused: %s', async (_what, tags) => {
    expect(await set('tags', { name: 'shop', tags })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.tags', field: 'tags' },
    });
  });

  it.each([['nothing'], ['../shop'], ['SHOP'], ['__proto__'], [7], [null]])(
    'a name is looked up, never joined: %j',
    async (name) => {
      for (const body of [
        { name, tags: [] },
        { name, autostart: true },
      ]) {
        expect(await set('tags' in body ? 'tags' : 'autostart', body)).toMatchObject({
          status: 404,
          body: { error: 'bundleTools.unknown' },
        });
      }
    },
  );

  it('autostart is a choice in a file beside the bundles, which the server obeys at its start', async () => {
    expect((await set('autostart', { name: 'shop', autostart: false })).status).toBe(200);
    expect((await set('autostart', { name: 'events', autostart: true })).status).toBe(200);
    expect((await set('autostart', { name: 'constructor', autostart: true })).status).toBe(200);
    expect(JSON.parse(readFileSync(choices, 'utf8'))).toEqual({ constructor: true, events: true, shop: false });
    expect(await named('shop')).toMatchObject({ autostart: false, manifestAutostart: true });
    expect(await named('events')).toMatchObject({ autostart: true, manifestAutostart: false });
    await owner.post('/api/server/start');
    const states = async () => (await listOf(owner)).map(({ name, state, autostart }) => [name, state, autostart]);
    await expect.poll(states).toEqual([
      ['constructor', 'started', true],
      ['events', 'started', true],
      ['shop', 'stopped', false],
    ]);
    expect((await set('autostart', { name: 'shop', autostart: null })).status).toBe(200);
    expect(await named('shop')).toMatchObject({ autostart: true });
    expect(JSON.parse(readFileSync(join(root, 'bundles/shop/bundle.json'), 'utf8'))).not.toHaveProperty('autostart');
    await owner.post('/api/server/stop');
    await expect.poll(async () => (await owner.get('/api/status')).body.status).toMatchObject({ state: 'stopped' });
  });

  it.each([['yes'], [1], [undefined]])('autostart is refused: %j', async (autostart) => {
    expect(await set('autostart', { name: 'shop', autostart })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.autostart', field: 'autostart' },
    });
  });

  it('a file that is no JSON is not written over, and the manifests hold', async () => {
    writeFileSync(choices, '{"shop": fals');
    expect(await named('shop')).toMatchObject({ autostart: true });
    const answer = await set('autostart', { name: 'shop', autostart: false });
    expect(answer).toMatchObject({ status: 409, body: { error: 'bundles.unavailable' } });
    expect(readFileSync(choices, 'utf8')).toBe('{"shop": fals');
  });

  it('a link in the place of the file is not followed', async () => {
    rmSync(choices);
    const outside = join(testFolder(), 'outside.json');
    writeFileSync(outside, '{"shop":false}');
    symlinkSync(outside, choices);
    expect(await named('shop')).toMatchObject({ autostart: true });
    expect(await set('autostart', { name: 'shop', autostart: false })).toMatchObject({ status: 409 });
    expect(readFileSync(outside, 'utf8')).toBe('{"shop":false}');
  });
});

describe('autostart of FXServer', () => {
  const root = testFolder();
  const config = join(root, 'server.cfg');
  const LINES = 'endpoint_add_tcp "127.0.0.1:30120"\r\nensure chat\r\nensure [core]\r\nset x "1" # last\r\n';
  let panel: TestPanel;
  let keeper: PanelClient;

  const put = (path: string) => {
    mkdirSync(join(root, 'resources', path), { recursive: true });
    writeFileSync(join(root, 'resources', path, 'fxmanifest.lua'), "version '1.0'\n");
  };
  const set = (name: string, autostart: unknown) => keeper.post('/api/bundles/autostart', { name, autostart });

  beforeAll(async () => {
    for (const path of ['chat', '[core]/mapmanager', '[jobs]/mechanic', 'odd name']) put(path);
    panel = await startTestPanel({ settings: { backend: 'fxserver', serverRoot: root } });
    panel.services.settings.update({ bundleTools: true });
    keeper = await panel.account('keeper', ['bundles.read', 'bundles.autostart']);
  });

  afterAll(async () => {
    await panel.stop();
  });

  it('is the line of server.cfg, and nothing else of it', async () => {
    writeFileSync(config, LINES);
    expect((await set('mechanic', true)).status).toBe(200);
    const on = LINES.replace('ensure [core]\r\n', 'ensure [core]\r\nensure mechanic\r\n');
    expect(readFileSync(config, 'utf8')).toBe(on);
    expect(await metadataOf(keeper)).toContainEqual({
      ...{ name: 'mechanic', tags: ['jobs'], ownTags: [], autostart: true, manifestAutostart: null },
    });
    expect((await set('mechanic', true)).status).toBe(200);
    expect(readFileSync(config, 'utf8')).toBe(on);
    expect((await set('mechanic', false)).status).toBe(200);
    expect(readFileSync(config, 'utf8')).toBe(LINES);
  });

  it('can be undone like any other change of the file', async () => {
    writeFileSync(config, LINES);
    expect((await set('chat', false)).status).toBe(200);
    expect(readFileSync(config, 'utf8')).toBe(LINES.replace('ensure chat\r\n', ''));
    const owner = await panel.owner();
    expect((await owner.post('/api/server-config/undo')).status).toBe(200);
    expect(readFileSync(config, 'utf8')).toBe(LINES);
  });

  it('is refused for what its folder starts, and for a name that is more than a name', async () => {
    writeFileSync(config, LINES);
    expect(await set('mapmanager', false)).toMatchObject({ status: 409, body: { error: 'bundles.category' } });
    expect((await set('mapmanager', true)).status).toBe(200);
    expect(await set('odd name', true)).toMatchObject({ status: 409, body: { error: 'bundles.unavailable' } });
    expect(readFileSync(config, 'utf8')).toBe(LINES);
  });

  it('of any other program is refused', async () => {
    panel.services.settings.update({ backend: 'command', bundles: ['one'] });
    expect(await set('one', true)).toMatchObject({ status: 409, body: { error: 'bundles.unavailable' } });
    panel.services.settings.update({ backend: 'fxserver' });
  });
});
