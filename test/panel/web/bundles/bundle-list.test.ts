import { describe, expect, it } from 'vitest';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { actionsFor, dependentsOf, missingOf, searchedBundles } from '#panel/web/bundles/bundle-list.ts';

const bundle = (name: string, dependencies: string[] = [], more: Partial<BundleInfo> = {}): BundleInfo => ({
  ...{ name, version: '1.0.0', description: '', state: 'started', tags: [], autostart: true },
  dependencies,
  ...more,
});
const ALL = [bundle('base'), bundle('jobs', ['base']), bundle('police', ['jobs', 'gone']), bundle('maps')];

describe('the list of bundles', () => {
  it('names all that stop with one, by others too, and ends in a ring', () => {
    expect(dependentsOf('base', ALL)).toEqual(['jobs', 'police']);
    expect(dependentsOf('maps', ALL)).toEqual([]);
    expect(dependentsOf('a', [bundle('a', ['b']), bundle('b', ['a'])])).toEqual(['b']);
    expect(dependentsOf('base', [...ALL.slice(0, 1), bundle('jobs', ['base'], { state: 'stopped' })])).toEqual([]);
  });

  it('names them by the numbers in their names', () => {
    const all = [bundle('base'), bundle('extra_10', ['base']), bundle('extra_2', ['base'])];
    expect(dependentsOf('base', all)).toEqual(['extra_2', 'extra_10']);
  });

  it('tells a dependency that is not there', () => {
    expect(missingOf(bundle('police', ['jobs', 'gone']), ALL)).toEqual(['gone']);
  });

  it('offers what fits the state', () => {
    expect(actionsFor(bundle('a', [], { state: 'failed' }))).toEqual(['start']);
    expect(actionsFor(bundle('a'))).toEqual(['restart', 'stop']);
  });

  it('finds by name, description and tag', () => {
    const tagged = bundle('x', [], { description: 'Fishing', tags: ['Sea'] });
    expect(searchedBundles([...ALL, tagged], ' sea')).toEqual([tagged]);
    expect(searchedBundles([...ALL, tagged], 'fish')).toEqual([tagged]);
    expect(searchedBundles(ALL, '')).toBe(ALL);
  });
});
