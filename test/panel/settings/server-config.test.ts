import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { ServerConfig } from '#panel/settings/server-config.ts';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

const OWNER = { username: 'owner', permissions: new Set(PERMISSIONS) };

let root: string;
let store: PanelStore;
let settings: PanelSettings;

beforeEach(() => {
  root = testFolder();
  store = openPanelStore(join(root, 'panel.sqlite'));
  settings = new PanelSettings(store, { backend: 'fxserver', serverRoot: root });
  writeFileSync(join(root, 'server.cfg'), 'ensure a\n');
});
afterEach(() => {
  store.close();
});

describe('saving the configuration of the server', () => {
  it('on a full disk says so, and nothing of it is saved', () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const replaceFile = () => {
      throw full;
    };
    const config = new ServerConfig({ settings, store, now: () => 0, replaceFile });
    const hash = config.view().file?.hash;
    const body = { config: { startLine: './run.sh' }, file: { text: 'ensure b\n', hash } };
    expect(() => config.save(body, OWNER)).toThrow(
      expect.objectContaining({ key: 'config.unwritable', message: expect.stringContaining('ENOSPC') }),
    );
    expect(readFileSync(join(root, 'server.cfg'), 'utf8')).toBe('ensure a\n');
    expect(settings.values.startLine).toBe('');
    expect(config.view().undo).toBeNull();
  });

  it('takes no file where the server has none', () => {
    settings.update({ backend: 'command' });
    const config = new ServerConfig({ settings, store, now: () => 0, replaceFile: () => {} });
    expect(config.view()).toMatchObject({ file: null, fileProblem: null });
    expect(() => config.save({ file: { text: 'a', hash: '' } }, OWNER)).toThrow('this kind of server has none');
  });
});
