import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readServerRoot, reservedFolders } from '#panel/settings/server-root.ts';
import { testFolder } from '#support/test-folder.ts';

let home: string;
beforeAll(() => {
  home = testFolder();
  mkdirSync(join(home, 'real/inner'), { recursive: true });
  mkdirSync(join(home, 'sidecar/secrets'), { recursive: true });
  writeFileSync(join(home, 'file'), '');
  symlinkSync(join(home, 'real'), join(home, 'link'));
  symlinkSync(join(home, 'sidecar/secrets'), join(home, 'trap'));
  symlinkSync('/', join(home, 'slash'));
  symlinkSync('loop', join(home, 'loop'));
});

const read = (path: unknown, backend: Parameters<typeof readServerRoot>[1] = 'standalone') =>
  readServerRoot(path, backend, reservedFolders(join(home, 'sidecar')));

describe('a folder for a server', () => {
  it.each([
    ['nothing', () => '', 'folder-empty'],
    ['no text', () => 7, 'folder-empty'],
    ['a relative path', () => 'games/town', 'folder-relative'],
    ['a home that no shell fills in', () => '~/town', 'folder-relative'],
    ['a way up', () => `${home}/real/../../../etc`, 'folder-invalid'],
    ['a control character', () => `${home}/a\nb`, 'folder-invalid'],
    ['a zero byte', () => `${home}/a\u0000`, 'folder-invalid'],
    ['half a character', () => `${home}/\ud800`, 'folder-invalid'],
    ['too much', () => `/${'x'.repeat(1024)}`, 'folder-invalid'],
    ['the root of the disk', () => '/', 'folder-root'],
    ['a link to the root of the disk', () => `${home}/slash`, 'folder-root'],
    ['a link to itself', () => `${home}/loop`, 'folder-unreadable'],
    ['a file', () => `${home}/file`, 'folder-file'],
    ['the secrets of the sidecar', () => `${home}/sidecar/secrets`, 'folder-reserved'],
    ['a folder to be made in them', () => `${home}/sidecar/secrets/new`, 'folder-reserved'],
    ['a link into them', () => `${home}/trap/new`, 'folder-reserved'],
  ])('is not %s', (_name, path, problem) => {
    expect(read(path())).toEqual({ problem, folder: expect.any(String) });
  });

  it.each(['fxserver', 'command'] as const)('of %s is there already', (backend) => {
    const folder = join(home, 'new');
    expect(read(folder, backend)).toEqual({ problem: 'folder-missing', folder });
    expect(read(join(home, 'real'), backend)).toEqual({ path: join(home, 'real') });
  });

  it('is kept with its links resolved, also where the last part is still to be made', () => {
    expect(read(join(home, 'link/inner/'))).toEqual({ path: join(home, 'real/inner') });
    expect(read(join(home, 'link/new/town'))).toEqual({ path: join(home, 'real/new/town') });
  });

  it('may be none where something else runs the server', () => {
    expect(read('', 'none')).toEqual({ path: '' });
  });
});
