import { hash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
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

it('carries nothing from outside of the bundle, and writes nothing outside', async () => {
  const [above, aboveTarget] = [testFolder(), testFolder()];
  const [from, folder] = [join(above, 'bundles/shop'), join(aboveTarget, 'staging/job')];
  for (const made of [join(from, 'sub'), join(above, 'bundles/own'), folder]) mkdirSync(made, { recursive: true });
  for (const file of ['secret', 'bundles/own/server.js', 'bundles/shop/sub/a']) writeFileSync(join(above, file), 'x');
  const paths = ['../../secret', '../own/server.js', 'sub/../../own/server.js', 'sub/../sub/a', './sub/a', 'sub//a'];
  const bad = [...paths, join(above, 'secret'), '', '.', '..', 'sub/a/', 'a\0b', 'sub\\a'];
  const { carried, count } = await sealFolder({ folder, carry: { from, paths: bad } }, () => {});
  expect([carried, count]).toEqual([[], 0]);
  expect(readdirSync(aboveTarget, { recursive: true }).sort()).toEqual(['staging', 'staging/job']);
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
