import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseDatabaseConfig } from '#connector/config/database-config.ts';
import { problemForOwner } from '#panel/setup/install-refused.ts';
import { installStandalone } from '#panel/setup/install-standalone.ts';
import type { ShippedFiles } from '#panel/setup/shipped-files.ts';
import { testFolder } from '#support/test-folder.ts';
import { ACCESS, shipFiles, task, write } from './shipped.ts';

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof promises>();
  return { ...real, copyFile: vi.fn(real.copyFile) };
});

let home: string;
let root: string;
let shipped: ShippedFiles;

const install = (changes = {}) => installStandalone(root, shipped, () => ACCESS, task(changes));
const everythingIn = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

beforeEach(() => {
  home = testFolder();
  root = join(home, 'games/town');
  shipped = shipFiles(join(home, 'shipped'));
});
afterEach(() => {
  vi.mocked(promises.copyFile).mockReset();
});

describe('installing a standalone server', () => {
  it('refuses where the package has none, and makes nothing', async () => {
    shipped = { connector: null, sample: null };
    await expect(install()).rejects.toThrow('without the standalone server');
    expect(existsSync(root)).toBe(false);
  });

  it.each(['bundles', 'vfs', 'vfs/secrets'])('writes through no link %s that leads out', async (name) => {
    const outside = join(home, 'outside');
    mkdirSync(outside);
    mkdirSync(join(root, 'vfs'), { recursive: true });
    if (name !== 'vfs/secrets') rmSync(join(root, 'vfs'), { recursive: true });
    symlinkSync(outside, join(root, name));
    await expect(install()).rejects.toThrow('leads out of the server folder');
    expect(everythingIn(outside)).toEqual([]);
  });

  it('follows a link that stays within', async () => {
    mkdirSync(join(root, 'data/bundles'), { recursive: true });
    symlinkSync('data/bundles', join(root, 'bundles'));
    await install();
    expect(read('data/bundles/db_connector/bundle.json')).toBe('db_connector bundle.json');
  });

  it('leaves a folder of that name that is no whole bundle, and says so', async () => {
    write(join(root, 'bundles/db_connector/notes.txt'), 'mine');
    await expect(install()).rejects.toThrow('has no bundle.json');
    expect(everythingIn(root)).toEqual(['bundles', 'bundles/db_connector', 'bundles/db_connector/notes.txt']);
  });

  it('takes everything back where the disk is full, and says that it is', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    vi.mocked(promises.copyFile)
      .mockImplementationOnce((from, to) => promises.cp(from as string, to as string))
      .mockRejectedValueOnce(full);
    write(join(home, 'games/other.txt'), 'stays');
    const failed = await install().catch((error: unknown) => error);
    expect(problemForOwner(failed)).toContain('the disk is full');
    expect(everythingIn(join(home, 'games'))).toEqual(['other.txt']);
  });

  it('takes everything back when it is cancelled', async () => {
    const abort = new AbortController();
    const tell = (_progress: number, message: string) => {
      if (message.includes('sample')) abort.abort();
    };
    await expect(install({ signal: abort.signal, tell })).rejects.toThrow('abort');
    expect(everythingIn(home).filter((name) => !name.startsWith('shipped'))).toEqual([]);
  });

  it('makes the folders, both bundles, and the configuration for this sidecar', async () => {
    expect(await install()).toEqual({
      serverRoot: root,
      made: ['bundles/db_connector', 'bundles/sample_roleplay', 'vfs/database.json'],
      ...{ kept: [], notes: [], startLine: '' },
    });
    expect(everythingIn(join(root, 'bundles/db_connector'))).toEqual(everythingIn(shipped.connector as string));
    const config = parseDatabaseConfig(read('vfs/database.json'));
    expect(config).toMatchObject({ keyId: 'local', secretFile: 'secrets/local.secret' });
    expect(config.target?.host).toBe('127.0.0.1');
    expect([...config.namespaces]).toEqual(['game', 'stats']);
    expect(read('vfs/secrets/local.secret').trim()).toBe(ACCESS.secret);
    expect(statSync(join(root, 'vfs/secrets/local.secret')).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, 'vfs/secrets')).mode & 0o777).toBe(0o700);
    expect(everythingIn(root).filter((name) => name.includes('.installing') || name.endsWith('.tmp'))).toEqual([]);
  });

  it('a second time changes nothing, not what the owner has written either', async () => {
    await install();
    write(join(root, 'vfs/database.json'), '{"mine":true}');
    const before = lstatSync(join(root, 'bundles/db_connector')).ino;
    const { made, kept } = await install();
    expect(made).toEqual([]);
    expect(kept).toEqual(['bundles/db_connector', 'bundles/sample_roleplay', 'vfs/database.json']);
    expect(read('vfs/database.json')).toBe('{"mine":true}');
    expect(lstatSync(join(root, 'bundles/db_connector')).ino).toBe(before);
  });

  it('completes what a crash has left half done', async () => {
    write(join(root, 'bundles/.installing-db_connector/bundle.json'), 'half');
    write(join(root, 'bundles/sample_roleplay/bundle.json'), 'mine');
    const { made } = await install();
    expect(made).toEqual(['bundles/db_connector', 'vfs/database.json']);
    expect(read('bundles/db_connector/bundle.json')).toBe('db_connector bundle.json');
    expect(read('bundles/sample_roleplay/bundle.json')).toBe('mine');
    expect(readdirSync(join(root, 'bundles')).sort()).toEqual(['db_connector', 'sample_roleplay']);
  });

  it('puts the secret beside one of the same name that is another', async () => {
    write(join(root, 'vfs/secrets/local.secret'), 'of another sidecar');
    await install();
    expect(JSON.parse(read('vfs/database.json'))).toMatchObject({ secretFile: 'secrets/local-2.secret' });
    expect(read('vfs/secrets/local.secret')).toBe('of another sidecar');
    expect(read('vfs/secrets/local-2.secret').trim()).toBe(ACCESS.secret);
  });
});
