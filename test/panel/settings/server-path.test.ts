import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { ServerPath } from '#panel/settings/server-path.ts';
import type { Backend, Plan, ServerState } from '#panel/shapes/server.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

let home: string;
let store: PanelStore;
let settings: PanelSettings;

beforeEach(() => {
  home = testFolder();
  store = openPanelStore(join(home, 'panel.sqlite'));
});
afterEach(() => {
  store.close();
});

function pathWhile(state: ServerState, plan: Plan | null, backend: Backend = 'command'): ServerPath {
  settings = new PanelSettings(store, { backend });
  return new ServerPath({ settings, status: () => ({ state, plan }), reserved: [] });
}

const RESTART: Plan = { steps: [{ action: 'start', at: '2026-01-01T00:00:00.000Z' }], next: 0 };

describe('the folder of the server', () => {
  it.each([
    ['starting', null],
    ['running', null],
    ['stopping', null],
    ['crashed', RESTART],
  ] as const)('stays while the server is %s', (state, plan) => {
    const path = pathWhile(state, plan);
    expect(() => path.change({ serverRoot: home })).toThrow(expect.objectContaining({ key: 'server.running' }));
    expect(settings.values.serverRoot).toBe('');
  });

  it.each(['stopped', 'crashed'] as const)('is changed while it is %s', (state) => {
    expect(pathWhile(state, null).change({ serverRoot: home })).toBe(`command ${home}`);
    expect(settings.values.serverRoot).toBe(home);
  });

  it('of a standalone server holds its bundles', () => {
    const path = pathWhile('stopped', null, 'standalone');
    expect(() => path.change({ serverRoot: home })).toThrow(`there is no folder bundles in ${home}`);
    mkdirSync(join(home, 'bundles'));
    expect(path.change({ serverRoot: home })).toBe(`standalone ${home}`);
  });

  it('may be none where something else runs the server', () => {
    expect(pathWhile('stopped', null, 'none').change({ serverRoot: '' })).toBe('none');
  });

  it('may become one for another kind of server, if it is one', () => {
    const path = pathWhile('stopped', null, 'none');
    path.change({ serverRoot: home });
    expect(() => path.change({ backend: 'txadmin' })).toThrow(expect.objectContaining({ key: 'settings.backend' }));
    expect(() => path.change({ backend: 'fxserver' })).toThrow(`there is no file server.cfg in ${home}`);
    expect(() => path.change({})).toThrow(expect.objectContaining({ key: 'settings.serverRoot' }));
    expect(settings.values).toMatchObject({ backend: 'none', serverRoot: home });
    expect(path.change({ backend: 'command' })).toBe(`command ${home}`);
    expect(settings.values).toMatchObject({ backend: 'command', serverRoot: home });
  });
});
