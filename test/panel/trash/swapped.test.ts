import fs, { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openPanelStore } from '#panel/store/panel-store.ts';
import { Trash } from '#panel/trash/trash.ts';
import { TrashStore } from '#panel/trash/trash-store.ts';
import { testFolder } from '#support/test-folder.ts';

const { rename } = fs.promises;

afterEach(() => {
  Object.assign(fs.promises, { rename });
  syncBuiltinESMExports();
});

/** Once, directly before the panel moves the folder: after every check. */
function beforeMove(work: () => void): void {
  fs.promises.rename = async (...paths) => {
    fs.promises.rename = rename;
    syncBuiltinESMExports();
    work();
    return rename(...paths);
  };
  syncBuiltinESMExports();
}

it.each([
  ['a link', (path: string, outside: string) => symlinkSync(outside, path)],
  ['another folder', (path: string) => mkdirSync(path)],
])('%s that is put in place of a bundle between check and move stays where it is', async (_what, replace) => {
  const [root, outside] = [testFolder(), testFolder()];
  const target = join(root, 'bundles/shop');
  mkdirSync(target, { recursive: true });
  const panelStore = openPanelStore(join(root, 'panel.sqlite'));
  const store = new TrashStore(panelStore);
  const trash = new Trash({ store, trashDays: () => 14, now: Date.now, onTrouble: () => {} });
  beforeMove(() => {
    renameSync(target, join(root, 'bundles/mine'));
    replace(target, outside);
  });
  const row = {
    ...{ id: '0123456789abcdef', name: 'shop', version: '1.2.0', by: 'owner', atEpochMs: Date.now(), bytes: 40 },
    ...{ bundles: join(root, 'bundles'), way: 'shop', folder: join(root, '.panel/trash/0123456789abcdef') },
    ...{ autostart: null, isEnsured: false, ran: [], quarantined: [] },
  };
  await expect(trash.put(row)).rejects.toMatchObject({ key: 'bundles.linked' });
  expect([existsSync(row.folder), lstatSync(target).isSymbolicLink(), trash.list()]).toEqual([
    false,
    _what === 'a link',
    [],
  ]);
  expect([readdirSync(outside), existsSync(join(root, 'bundles/mine'))]).toEqual([[], true]);
  panelStore.close();
});
