import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hashInputs } from '#scripts/build/input-hash.ts';
import { shipBundles } from '#scripts/build/shipped-bundles.ts';
import { testFolder } from '../support/test-folder.ts';

it('links in bundles/, which an editor makes, neither stop a build nor are shipped', () => {
  const folder = testFolder();
  mkdirSync(join(folder, 'bundles/mine'), { recursive: true });
  writeFileSync(join(folder, 'bundles/mine/server.js'), '// empty\n');
  const before = hashInputs(folder, ['bundles']);
  symlinkSync('somebody@somewhere.4711', join(folder, 'bundles/mine/.#server.js'));
  symlinkSync(tmpdir(), join(folder, 'bundles/elsewhere'));
  expect(hashInputs(folder, ['bundles'])).toBe(before);
  shipBundles(join(folder, 'bundles'), join(folder, 'shipped'));
  expect(existsSync(join(folder, 'shipped/mine/server.js'))).toBe(true);
  expect(existsSync(join(folder, 'shipped/elsewhere'))).toBe(false);
});
