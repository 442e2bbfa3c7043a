import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { putBack, putInPlace, takeBack } from '#panel/installs/renames.ts';
import type { SwitchedBundle } from '#panel/installs/switch-record.ts';
import { testFolder } from '#support/test-folder.ts';

let root: string;
let outside: string;
let bundle: SwitchedBundle;

beforeEach(() => {
  const top = testFolder();
  root = join(top, 'resources');
  outside = testFolder();
  const panel = join(top, '.panel');
  bundle = {
    ...{ name: 'shop', target: join(root, '[town]/shop'), staged: join(panel, 'staging/1/shop') },
    ...{ old: join(panel, 'versions/shop/1'), rejected: join(panel, 'versions/shop/2'), number: 2, oldNumber: 1 },
    ...{ from: '1', to: '2', autostart: true, hasRun: true },
  };
  for (const [folder, text] of [
    [bundle.target, 'old'],
    [bundle.staged, 'new'],
    [outside, 'foreign'],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a'), text);
  }
});

const put = (changes: Partial<SwitchedBundle> = {}) => putInPlace({ root, bundles: [{ ...bundle, ...changes }] });
const read = (folder: string) => readFileSync(join(folder, 'a'), 'utf8');

function replaceByLink(path: string): void {
  renameSync(path, `${path}.away`);
  symlinkSync(outside, path);
}

describe('a link that was put there after the check', () => {
  it.each([
    ['in place of the bundle', () => bundle.target],
    ['in place of the new version', () => bundle.staged],
    ['in place of a folder above', () => dirname(bundle.target)],
    ['in place of the folder of all bundles', () => root],
  ])('%s is refused, and nothing is put behind it', (_what, path) => {
    replaceByLink(path());
    expect(() => put()).toThrow(expect.objectContaining({ key: 'bundles.linked' }));
    putBack({ bundles: [bundle] });
    expect(lstatSync(path()).isSymbolicLink()).toBe(true);
    expect(readdirSync(outside)).toEqual(['a']);
    expect(read(outside)).toBe('foreign');
  });

  it('in place of a new bundle is refused', () => {
    rmSync(bundle.target, { recursive: true });
    symlinkSync(outside, bundle.target);
    expect(() => put({ old: null, oldNumber: null })).toThrow(expect.objectContaining({ key: 'bundles.linked' }));
    expect([read(outside), read(bundle.staged)]).toEqual(['foreign', 'new']);
  });
});

it('a folder that came meanwhile in place of a new bundle is not replaced', () => {
  expect(() => put({ old: null, oldNumber: null })).toThrow(expect.objectContaining({ key: 'bundles.linked' }));
  expect([read(bundle.target), read(bundle.staged)]).toEqual(['old', 'new']);
});

it('each way can be gone twice', () => {
  for (let time = 0; time < 2; time += 1) {
    put();
    expect([read(bundle.target), read(bundle.old ?? '')]).toEqual(['new', 'old']);
  }
  for (let time = 0; time < 2; time += 1) {
    takeBack({ bundles: [bundle] });
    expect([read(bundle.target), read(bundle.rejected)]).toEqual(['old', 'new']);
  }
});
