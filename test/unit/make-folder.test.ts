import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '#sidecar/make-folder.ts';
import { testFolder } from '../support/test-folder.ts';

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
  return 'made';
};

it('makes what is missing, with its mode, and returns the first that it made', () => {
  const root = testFolder();
  expect(makeFolder(join(root, 'a/b/c'))).toBe(join(root, 'a'));
  expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
  expect(makeFolder(join(root, 'a/b/c/'))).toBeUndefined();
  expect(makeFolder(join(root, 'a/../d'), 0o750)).toBe(join(root, 'd'));
  expect(statSync(join(root, 'd')).mode & 0o777).toBe(0o750);
  expect(makeFolder('/')).toBeUndefined();
});

it('follows links to folders, and refuses files and links that lead nowhere', () => {
  const root = testFolder();
  mkdirSync(join(root, 'real'));
  symlinkSync(join(root, 'real'), join(root, 'link'));
  expect(makeFolder(join(root, 'link/a'))).toBe(join(root, 'link/a'));
  expect(readdirSync(join(root, 'real'))).toEqual(['a']);
  writeFileSync(join(root, 'file'), '');
  expect(codeOf(() => makeFolder(join(root, 'file')))).toBe('EEXIST');
  expect(codeOf(() => makeFolder(join(root, 'file/a')))).toBe('EEXIST');
  rmSync(join(root, 'real'), { recursive: true });
  expect(codeOf(() => makeFolder(join(root, 'link')))).toBe('EEXIST');
});

if (process.platform === 'linux') {
  it('returns below /proc too, with the refusal of the system', () => {
    expect(codeOf(() => makeFolder('/proc/none/data'))).toBe('ENOENT');
    expect(codeOf(() => makeFolder('/proc/self/none/data'))).toBe('ENOENT');
  });
}
