import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeyUse } from '#panel/database/key-use.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const KEY = { kid: 'local', operations: ['*'], namespaces: ['*'], addresses: [], allowUnfilteredWrites: true };
const CALL = { kid: 'local', address: '::1', operation: 'find', payload: null, code: 'ok', ms: 1, databaseMs: 1 };

let folder = '';
let store: PanelStore;
let troubles: unknown[] = [];

beforeEach(() => {
  folder = testFolder();
  troubles = [];
  store = openPanelStore(join(folder, 'panel.sqlite'));
});

afterEach(() => {
  store.close();
});

function keyUse(previous: { readonly until: number } | null = null): KeyUse {
  return new KeyUse(store, [{ ...KEY, previous }], { now: () => NOW, onTrouble: (error) => troubles.push(error) });
}

it('a key whose secret before is still good says until when', () => {
  expect(keyUse({ until: NOW + 1000 }).read().keys[0]?.previousUntil).toBe('2026-11-23T12:00:01.000Z');
  expect(keyUse({ until: NOW }).read().keys[0]?.previousUntil).toBeNull();
});

it('a key that is gone from the configuration is not shown any more, and not forgotten if it comes back', () => {
  const before = keyUse();
  before.saw(CALL);
  before.close();
  const without = new KeyUse(store, [], { now: () => NOW, onTrouble: () => {} });
  expect(without.read().keys).toEqual([]);
  without.close();
  expect(keyUse().read().keys[0]?.lastUsed).toBe('2026-11-23T12:00:00.000Z');
});

it('a file that takes nothing is told, and what was to be written is still known', () => {
  const use = keyUse();
  use.saw(CALL);
  store.close();
  use.close();
  expect(troubles).toHaveLength(1);
  expect(use.read().keys[0]).toMatchObject({ calls: 1, lastAddress: '::1' });
});
