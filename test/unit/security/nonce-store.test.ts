import { hash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { nonceFilesOf, readNonceFile } from '#sidecar/security/nonce-file.ts';
import { NonceStore } from '#sidecar/security/nonce-store.ts';
import { testFolder } from '#support/test-folder.ts';

const disk = vi.hoisted(() => ({ failsToClose: false, failsToWrite: false }));

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs')>();
  return {
    ...real,
    closeSync: (descriptor: number) => {
      real.closeSync(descriptor);
      if (disk.failsToClose) throw new Error('EIO: i/o error, close');
    },
    writeSync: (...given: Parameters<typeof real.writeSync>) => {
      if (disk.failsToWrite) throw new Error('ENOSPC: no space left on device, write');
      return real.writeSync(...given);
    },
  };
});

/** A generation of nonces lasts a quarter of it: a second. */
const SKEW_SECONDS = 4;
const START = 1_800_000_000;

let folder: string;
let stores: NonceStore[];

beforeEach(() => {
  folder = testFolder();
  stores = [];
});

afterEach(async () => {
  for (const store of stores) await store.close();
});

function open(): NonceStore {
  const settings = { folder: join(folder, 'store'), skewSeconds: SKEW_SECONDS, nowSeconds: () => START };
  const store = new NonceStore({ ...settings, bootId: 'one', warn: () => {} });
  stores.push(store);
  return store;
}

function kept(store: NonceStore): Promise<boolean> {
  return new Promise((resolve) => store.whenKept(resolve));
}

it('what was accepted in one turn is there for the next process, once it is kept', async () => {
  const first = open();
  expect([1, 2, 3].map((i) => first.accept('local', `nonce-${i}`, START, START))).toEqual(['new', 'new', 'new']);
  expect(first.accept('local', 'nonce-2', START, START)).toBe('replayed');
  expect(await kept(first)).toBe(true);
  // Not closed, as after kill -9.
  const second = open();
  expect([1, 2, 3].map((i) => second.accept('local', `nonce-${i}`, START, START))).toEqual(Array(3).fill('replayed'));
  expect(second.accept('local', 'nonce-4', START, START)).toBe('new');
});

it('keeps the first 64 bits of SHA-256 over key and nonce, as versions before did', async () => {
  const store = open();
  const nonces = Array.from({ length: 100 }, (_, i) => `nonce-${i}`);
  for (const nonce of nonces) store.accept('local', nonce, START, START);
  expect(await kept(store)).toBe(true);
  const [file] = nonceFilesOf(join(folder, 'store'));
  const records: string[] = [];
  readNonceFile(file as string, (_, high, low) => records.push([high, low].map(hexOf).join('')));
  expect(records).toEqual(nonces.map((nonce) => hash('sha256', `local\n${nonce}`, 'hex').slice(0, 16)));
});

const hexOf = (word: number) => word.toString(16).padStart(8, '0');

it('a disk that fails to close a file fails that turn, and not those after it', async () => {
  const store = open();
  expect(store.accept('local', 'before', START, START)).toBe('new');
  expect(await kept(store)).toBe(true);

  disk.failsToClose = true;
  expect(store.accept('local', 'turns the file', START + 1, START + 1)).toBe('refused');
  disk.failsToClose = false;

  for (const at of [1, 2, 3]) {
    expect(store.accept('local', `after-${at}`, START + at, START + at)).toBe('new');
    expect(await kept(store)).toBe(true);
  }
});

it('a disk that is full fails all that was accepted in the turn', async () => {
  const store = open();
  expect(store.accept('local', 'before', START, START)).toBe('new');
  expect(await kept(store)).toBe(true);

  expect(store.accept('local', 'lost', START, START)).toBe('new');
  const isKept = kept(store);
  disk.failsToWrite = true;
  expect(store.accept('local', 'turns the file', START + 1, START + 1)).toBe('refused');
  disk.failsToWrite = false;
  expect(await isKept).toBe(false);

  expect(store.accept('local', 'after', START + 1, START + 1)).toBe('new');
  expect(await kept(store)).toBe(true);
});
