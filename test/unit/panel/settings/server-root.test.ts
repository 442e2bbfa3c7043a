import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readServerRoot, reservedFolders } from '#panel/settings/server-root.ts';

let home: string;
beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'server-root-')));
  mkdirSync(join(home, 'real/inner'), { recursive: true });
  mkdirSync(join(home, 'sidecar/secrets'), { recursive: true });
  writeFileSync(join(home, 'file'), '');
  symlinkSync(join(home, 'real'), join(home, 'link'));
  symlinkSync(join(home, 'sidecar/secrets'), join(home, 'trap'));
  symlinkSync('/', join(home, 'slash'));
  symlinkSync('loop', join(home, 'loop'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const read = (path: unknown, backend: Parameters<typeof readServerRoot>[1] = 'standalone') =>
  readServerRoot(path, backend, reservedFolders(join(home, 'sidecar')));

describe('a folder for a server', () => {
  it.each([
    ['nothing', () => ''],
    ['no text', () => 7],
    ['a relative path', () => 'games/town'],
    ['a home that no shell fills in', () => '~/town'],
    ['a way up', () => `${home}/real/../../../etc`],
    ['a control character', () => `${home}/a\nb`],
    ['a zero byte', () => `${home}/a\u0000`],
    ['half a character', () => `${home}/\ud800`],
    ['too much', () => `/${'x'.repeat(1024)}`],
    ['the root of the disk', () => '/'],
    ['a link to the root of the disk', () => `${home}/slash`],
    ['a link to itself', () => `${home}/loop`],
    ['a file', () => `${home}/file`],
    ['the secrets of the sidecar', () => `${home}/sidecar/secrets`],
    ['a folder to be made in them', () => `${home}/sidecar/secrets/new`],
    ['a link into them', () => `${home}/trap/new`],
  ])('is not %s', (_name, path) => {
    expect(read(path())).toEqual({ problem: expect.any(String) });
  });

  it.each(['fxserver', 'command'] as const)('of %s is there already', (backend) => {
    const folder = join(home, 'new');
    expect(read(folder, backend)).toEqual({ problem: `the folder ${folder} does not exist`, folder });
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
