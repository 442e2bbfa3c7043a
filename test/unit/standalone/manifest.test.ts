import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isBundleName, ManifestError, readManifest } from '#standalone/manifest.ts';
import { testFolder } from '#support/test-folder.ts';

let folder = '';

beforeAll(() => {
  folder = testFolder();
  mkdirSync(join(folder, 'bundle/lib'), { recursive: true });
  writeFileSync(join(folder, 'outside.js'), '');
  writeFileSync(join(folder, 'bundle/server.js'), '');
  writeFileSync(join(folder, 'bundle/lib/main.js'), '');
  symlinkSync(join(folder, 'outside.js'), join(folder, 'bundle/link.js'));
});

function read(manifest: unknown): ReturnType<typeof readManifest> {
  const own = join(folder, 'bundle');
  writeFileSync(join(own, 'bundle.json'), typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  return readManifest(own);
}

describe('a bundle.json', () => {
  it('is read, with defaults for what it leaves out', () => {
    expect(read({ version: '1.0.0', server: 'server.js' })).toEqual({
      version: '1.0.0',
      description: '',
      server: expect.stringMatching(/bundle[\\/]server\.js$/),
      dependencies: [],
      tags: [],
      autostart: true,
    });
    const whole = {
      version: '2',
      description: 'd',
      server: 'lib/main.js',
      dependencies: ['db_connector'],
      tags: ['a'],
      autostart: false,
    };
    expect(read(whole)).toMatchObject({ ...whole, server: expect.stringMatching(/main\.js$/) });
  });

  it.each<[string, unknown]>([
    ['no JSON', '{'],
    ['expected an object', []],
    ['version: expected a text such as "1.0.0", got nothing', { server: 'server.js' }],
    ['version: expected a text such as "1.0.0", got 1', { version: 1, server: 'server.js' }],
    ['server: expected a file name', { version: '1' }],
    ['server: there is no file main.js', { version: '1', server: 'main.js' }],
    ['server: expected a file inside of the bundle', { version: '1', server: '../outside.js' }],
    ['server: expected a file inside of the bundle', { version: '1', server: 'lib/../../outside.js' }],
    ['server: expected a file inside of the bundle', { version: '1', server: '/etc/passwd' }],
    ['server: link.js leads out of the bundle', { version: '1', server: 'link.js' }],
    ['dependencies: expected a list of names', { version: '1', server: 'server.js', dependencies: 'a' }],
    ['dependencies: expected a list of names', { version: '1', server: 'server.js', dependencies: ['../a'] }],
    ['dependencies: expected a list of names', { version: '1', server: 'server.js', dependencies: ['a..b'] }],
    ['tags: expected a list of texts', { version: '1', server: 'server.js', tags: [1] }],
    ['autostart: expected true or false, got "yes"', { version: '1', server: 'server.js', autostart: 'yes' }],
    ['depends: unknown', { version: '1', server: 'server.js', depends: [] }],
  ])('%s', (message, manifest) => {
    expect(() => read(manifest)).toThrow(ManifestError);
    expect(() => read(manifest)).toThrow(message);
  });
});

describe('a name of a bundle', () => {
  it('never leads anywhere else', () => {
    for (const name of ['db_connector', 'A-1', 'v1.2']) expect(isBundleName(name), name).toBe(true);
    for (const name of ['', '.', '..', 'a..b', '../a', 'a/b', 'a\\b', '.hidden', 'a b', 'ä', 'x'.repeat(101)]) {
      expect(isBundleName(name), name).toBe(false);
    }
  });
});
