import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sealFolder } from '#panel/work/seal-folder.ts';
import { testFolder } from '#support/test-folder.ts';

it('carries plain files over, and nothing through a link', async () => {
  const [folder, from, outside] = [testFolder(), testFolder(), testFolder()];
  mkdirSync(join(from, 'sub'));
  writeFileSync(join(from, 'sub/config.lua'), 'mine');
  writeFileSync(join(outside, 'secret'), 'secret');
  symlinkSync(join(outside, 'secret'), join(from, 'file'));
  symlinkSync(outside, join(from, 'folder'));
  const paths = ['sub/config.lua', 'file', 'folder/secret', 'gone'];
  const { carried, count } = await sealFolder({ folder, carry: { from, paths } }, () => {});
  expect([carried, count]).toEqual([['sub/config.lua'], 1]);
  expect([existsSync(join(folder, 'file')), existsSync(join(folder, 'folder'))]).toEqual([false, false]);
});
