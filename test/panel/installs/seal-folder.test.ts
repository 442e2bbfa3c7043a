import { hash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unpackHashes } from '#panel/work/file-list.ts';
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

it('hashes files of every size beside the block that it reads with', async () => {
  const folder = testFolder();
  const sizes = [2 ** 19 + 1, 1, 2 ** 18, 0, 2 ** 18 - 1, 2 ** 19, 2 ** 18 + 1];
  const contents = sizes.map((size, index) => [`${index}`, randomBytes(size)] as const);
  for (const [path, content] of contents) writeFileSync(join(folder, path), content);
  const { files, bytes } = await sealFolder({ folder, carry: null }, () => {});
  const expected = contents.map(([path, content]) => [path, hash('sha256', content, 'base64url')]);
  expect([...unpackHashes(files)].sort()).toEqual(expected);
  expect(bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
});
