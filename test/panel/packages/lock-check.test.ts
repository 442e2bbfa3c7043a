import { describe, expect, it } from 'vitest';
import { checkPackages } from '#panel/packages/lock-check.ts';

const REGISTRY = 'https://registry.example/npm/';
const INTEGRITY = `sha512-${'A'.repeat(86)}==`;
const entry = (name: string, changes: object = {}) => ({
  ...{ version: '1.0.0', resolved: `${REGISTRY}${name}/-/${name}-1.0.0.tgz`, integrity: INTEGRITY, license: 'MIT' },
  ...changes,
});
const check = (packages: object, manifest: object = { dependencies: { a: '^1.0.0' } }, registry = REGISTRY) =>
  checkPackages(
    JSON.stringify(manifest),
    JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }),
    registry,
  );

describe('the check of a lock', () => {
  it('accepts packages of the registry, also those inside others and bundled ones', () => {
    const checked = check({
      'node_modules/a': entry('a', { hasInstallScript: true, dev: true }),
      'node_modules/@s/b': entry('@s/b', { resolved: `${REGISTRY}@s/b/-/b-1.0.0.tgz` }),
      'node_modules/a/node_modules/c': entry('c', { version: '2.0.0-beta.1' }),
      'node_modules/a/node_modules/d': { version: '1.0.0', inBundle: true },
    });
    expect(checked.locked.map(({ name, version }) => `${name} ${version}`)).toEqual([
      'a 1.0.0',
      '@s/b 1.0.0',
      'c 2.0.0-beta.1',
      'd 1.0.0',
    ]);
    expect(checked.locked[0]).toMatchObject({ hasScripts: true, isDev: true, license: 'MIT' });
    expect(checked.wanted.get('a')).toEqual({ range: '^1.0.0', section: 'dependencies' });
  });

  it('accepts a single origin offline', () => {
    expect(check({ 'node_modules/a': entry('a') }, {}, '').locked).toHaveLength(1);
    const other = entry('b', { resolved: 'https://other.example/b/-/b-1.0.0.tgz' });
    expect(() => check({ 'node_modules/a': entry('a'), 'node_modules/b': other }, {}, '')).toThrow('not from');
  });

  it.each([
    ['another host', { resolved: 'https://evil.example/npm/a/-/a-1.0.0.tgz' }, 'not from'],
    ['another path of the host', { resolved: 'https://registry.example/other/a.tgz' }, 'not from'],
    ['a way out of the path', { resolved: `${REGISTRY}../other/a.tgz` }, 'not from'],
    ['a user part', { resolved: 'https://x@registry.example/npm/a/-/a-1.0.0.tgz' }, 'not from'],
    ['a repository', { resolved: 'git+ssh://git@registry.example/a.git#abc' }, 'not from'],
    ['a file', { resolved: 'file:../a.tgz' }, 'not from'],
    ['no address', { resolved: undefined }, 'not from'],
    ['a short hash', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'SHA-512'],
    ['a weaker hash beside it', { integrity: `${INTEGRITY} sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=` }, 'SHA-512'],
    ['no hash', { integrity: undefined }, 'SHA-512'],
    ['an alias', { name: 'evil' }, 'aliases'],
    ['a link', { link: true }, 'link'],
    ['no version', { version: 'latest' }, 'version'],
  ])('refuses %s', (_, changes, reason) => {
    expect(() => check({ 'node_modules/a': entry('a', changes) })).toThrow(reason);
  });

  it.each([
    '../a',
    'node_modules/../a',
    'a',
    'node_modules/a/b',
    'packages/a',
    'node_modules/a/../../x',
    'node_modules/.bin',
    'node_modules/A',
    'node_modules/--registry',
  ])('refuses the place %s', (place) => {
    expect(() => check({ [place]: entry('a') })).toThrow('the place');
  });

  it.each([
    'git+https://evil.example/a.git',
    'github:evil/a',
    'evil/a',
    'file:../a',
    'https://evil.example/a.tgz',
    'npm:evil@1.0.0',
    'link:../a',
    'workspace:*',
  ])('refuses a wish for %s', (range) => {
    expect(() => check({}, { dependencies: { a: range } })).toThrow('a comes from');
    expect(() => check({}, { overrides: { b: { a: range } } })).toThrow('overrides');
  });

  it('refuses keys that change objects, in both files', () => {
    const lock = '{"lockfileVersion":3,"packages":{"__proto__":{"version":"1.0.0"}}}';
    expect(() => checkPackages('{}', lock, REGISTRY)).toThrow('__proto__');
    expect(() => checkPackages('{"dependencies":{"__proto__":"1.0.0"}}', lock, REGISTRY)).toThrow('__proto__');
    expect(() => checkPackages('{"constructor":{"prototype":{}}}', lock, REGISTRY)).toThrow('constructor');
  });

  it('refuses other versions, workspaces, no lock and no JSON', () => {
    expect(() => checkPackages('{}', '{"lockfileVersion":1,"dependencies":{}}', REGISTRY)).toThrow('lockfileVersion');
    expect(() => check({}, { workspaces: ['a'] })).toThrow('workspaces');
    expect(() => checkPackages('{}', null, REGISTRY)).toThrow('there is no package-lock.json');
    expect(() => checkPackages('{', '{}', REGISTRY)).toThrow('package.json is no JSON');
  });
});
