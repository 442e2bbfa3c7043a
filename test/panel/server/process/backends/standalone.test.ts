import { describe, expect, it } from 'vitest';
import { readBundlesMessage, readPong } from '#panel/server/process/backends/standalone.ts';

describe('what a server says over its channel', () => {
  it.each([
    null,
    7,
    'bundles',
    [],
    {},
    { type: 'bundles' },
    { type: 'bundles', bundles: {} },
    { type: 'pong', id: '1' },
  ])('is nothing where it has no shape: %j', (message) => {
    expect([readPong(message), readBundlesMessage(message)]).toEqual([null, null]);
  });

  it('is taken as far as it can be understood, and no further', () => {
    const bundles = [
      null,
      { name: '' },
      { name: 'shop', state: 'started', version: 7, dependencies: ['db_connector', 8], tags: 'x', autostart: 'yes' },
      { name: 'odd', state: '__proto__', description: 'd'.repeat(5000) },
    ];
    expect(readBundlesMessage({ type: 'bundles', bundles })).toEqual([
      {
        ...{ name: 'shop', state: 'started', version: '', description: '', tags: [], autostart: false },
        dependencies: ['db_connector', ''],
      },
      {
        ...{ name: 'odd', state: 'unknown', version: '', description: 'd'.repeat(2000) },
        ...{ dependencies: [], tags: [], autostart: false },
      },
    ]);
    const many = Array.from({ length: 5000 }, (_none, index) => ({ name: `b${index}` }));
    expect(readBundlesMessage({ type: 'bundles', bundles: many })).toHaveLength(2000);
  });
});
