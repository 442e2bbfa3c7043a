import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bundles } from '#panel/bundles/bundles.ts';
import { PanelSettings, type SettingValues } from '#panel/settings/panel-settings.ts';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

/** Stands for the server control. */
class Server {
  readonly typed: string[] = [];
  told: readonly BundleInfo[] | null = null;
  state = 'stopped';
  resources: readonly string[] | null = null;
  readonly #listeners: (() => void)[] = [];

  status = () => ({ state: this.state });
  bundles = () => this.told;
  health = () => ({ resources: this.resources });
  onBundles = (listener: () => void) => void this.#listeners.push(listener);
  onStatus = (listener: () => void) => void this.#listeners.push(listener);
  sendCommand = (text: string, actor: string) => void this.typed.push(`${actor}: ${text}`);
  changed = () => {
    for (const listener of this.#listeners) listener();
  };
}

let folder: string;
let root: string;
let store: PanelStore;
let server: Server;

beforeEach(() => {
  folder = testFolder();
  root = join(folder, 'server');
  mkdirSync(root);
  store = openPanelStore(join(folder, 'panel.sqlite'));
  server = new Server();
});

afterEach(() => {
  store.close();
});

const bundlesOf = (settings: Partial<SettingValues>) =>
  new Bundles({ server, settings: new PanelSettings(store, { serverRoot: root, ...settings }) });

function put(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe('bundles of a standalone server', () => {
  it('that is stopped are what its folders say, the broken ones by name alone', async () => {
    put(
      'bundles/shop/bundle.json',
      '{"version":"1.2.0","description":"<img src=x>","server":"s.js","dependencies":["db_connector"],"tags":["economy"]}',
    );
    put('bundles/broken/bundle.json', '{"version":');
    put(
      'bundles/odd/bundle.json',
      '{"version":5,"description":null,"dependencies":"x","tags":[1,"a"],"autostart":false}',
    );
    put('bundles/empty/readme.txt', '');
    put('bundles/.git/bundle.json', '{}');
    put('bundles/file.txt', '');
    const bare = { version: '', description: '', state: 'stopped', dependencies: [], tags: [], autostart: false };
    expect(await bundlesOf({ backend: 'standalone' }).list()).toEqual([
      { ...bare, name: 'broken' },
      { ...bare, name: 'empty' },
      { ...bare, name: 'odd', tags: ['a'] },
      {
        name: 'shop',
        version: '1.2.0',
        description: '<img src=x>',
        state: 'stopped',
        dependencies: ['db_connector'],
        tags: ['economy'],
        autostart: true,
      },
    ]);
  });

  it('that runs are what it says itself', async () => {
    put('bundles/shop/bundle.json', '{}');
    const one: BundleInfo = {
      ...{ name: 'b', version: '1', description: '', state: 'failed' },
      ...{ dependencies: [], tags: [], autostart: true },
    };
    server.told = [one, { ...one, name: 'a', state: 'started' }];
    expect((await bundlesOf({ backend: 'standalone' }).list()).map(({ name, state }) => `${name} ${state}`)).toEqual([
      'a started',
      'b failed',
    ]);
  });

  it('are not read through a link that leads out of the server', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'bundle.json'), '{"version":"secret"}');
    mkdirSync(join(root, 'bundles'), { recursive: true });
    symlinkSync(outside, join(root, 'bundles/linked'));
    put('bundles/inner/readme.txt', '');
    symlinkSync(join(outside, 'bundle.json'), join(root, 'bundles/inner/bundle.json'));
    expect((await bundlesOf({ backend: 'standalone' }).list()).map(({ version }) => version)).toEqual(['', '']);
  });
});

describe('resources of FXServer', () => {
  beforeEach(() => {
    put('server.cfg', '# ensure nothing\nensure chat\nstart "mapmanager"\nensure [economy]\nset x "ensure no"\n');
    put(
      'resources/chat/fxmanifest.lua',
      "fx_version 'cerulean'\nversion '1.0'\ndescription \"a 'chat'\"\n-- dependency 'no'\n",
    );
    put('resources/[core]/mapmanager/__resource.lua', "dependency 'chat'\n");
    put('resources/[core]/[economy]/shop/fxmanifest.lua', "dependencies {\n  'chat', '/server:5181',\n  \"bank\"\n}\n");
    put('resources/no-manifest/server.lua', '');
  });

  it('are found in brackets too, with what server.cfg ensures', async () => {
    expect(await bundlesOf({ backend: 'fxserver' }).list()).toEqual([
      expect.objectContaining({ name: 'chat', version: '1.0', description: "a 'chat'", autostart: true, tags: [] }),
      expect.objectContaining({ name: 'mapmanager', dependencies: ['chat'], autostart: true, tags: ['core'] }),
      expect.objectContaining({
        ...{ name: 'shop', dependencies: ['chat', 'bank'], autostart: true, tags: ['core', 'economy'] },
        state: 'stopped',
      }),
    ]);
  });

  it.each([
    ['running', ['chat'], 'started', 'stopped'],
    ['running', null, 'unknown', 'unknown'],
    ['crashed', ['chat'], 'stopped', 'stopped'],
  ])('of a server that is %s and tells %j', async (state, resources, chat, shop) => {
    Object.assign(server, { state, resources });
    const states = Object.fromEntries(
      (await bundlesOf({ backend: 'fxserver' }).list()).map((one) => [one.name, one.state]),
    );
    expect(states).toMatchObject({ chat, shop });
  });
});

describe('what is done to a bundle', () => {
  it('is a line of the console, the owner’s own where there is one, with the name of the account', async () => {
    put('bundles/shop/bundle.json', '{}');
    const bundles = bundlesOf({ backend: 'standalone', bundleRestartLine: 'reload {name} {name}' });
    await bundles.act('shop', 'start', 'ada');
    await bundles.act('shop', 'restart', 'bob');
    expect(server.typed).toEqual(['ada: start shop', 'bob: reload shop shop']);
  });

  it.each([['nothing'], ['../shop'], ['shop/'], ['SHOP'], ['shop\nquit'], ['__proto__']])(
    'is refused for %j, which is no bundle',
    async (name) => {
      put('bundles/shop/bundle.json', '{}');
      await expect(bundlesOf({ backend: 'standalone' }).act(name, 'stop', 'ada')).rejects.toMatchObject({
        key: 'bundles.unknown',
      });
      expect(server.typed).toEqual([]);
    },
  );

  it('is refused for a folder whose name is more than a name to the console', async () => {
    put('bundles/a; quit/bundle.json', '{}');
    await expect(bundlesOf({ backend: 'standalone' }).act('a; quit', 'stop', 'ada')).rejects.toMatchObject({
      key: 'bundles.unavailable',
    });
    expect(server.typed).toEqual([]);
  });

  it('of any other program only as its owner has said', async () => {
    const silent = bundlesOf({ backend: 'command', bundles: ['one'] });
    await expect(silent.act('one', 'stop', 'ada')).rejects.toMatchObject({ key: 'bundles.unavailable' });
    const told = bundlesOf({ backend: 'command', bundles: ['one'], bundleStopLine: 'plugin unload {name}' });
    expect((await told.list())[0]).toMatchObject({ name: 'one', state: 'unknown' });
    await told.act('one', 'stop', 'ada');
    expect(server.typed).toEqual(['ada: plugin unload one']);
  });
});

it('a change is told once, with the whole list, and only if something is different', async () => {
  put('bundles/shop/bundle.json', '{"version":"1"}');
  const bundles = bundlesOf({ backend: 'standalone' });
  const heard: string[] = [];
  bundles.onChange((list) => heard.push(list.map(({ name, version }) => `${name} ${version}`).join()));
  server.changed();
  server.changed();
  await expect.poll(() => heard).toEqual(['shop 1']);
  put('bundles/shop/bundle.json', '{"version":"2"}');
  server.changed();
  await expect.poll(() => heard).toEqual(['shop 1', 'shop 2']);
});
