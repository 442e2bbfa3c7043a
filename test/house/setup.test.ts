import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { completeLock, type LockFile, missingOptional } from '#scripts/complete-lock.ts';
import { testFolder } from '../support/test-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SETUP = join(ROOT, 'scripts/setup');
const load = createRequire(import.meta.url);
const { isNewEnough } = load(`${SETUP}/node-runtime.cjs`) as { isNewEnough(version: string): boolean };
const { areInstalled } = load(`${SETUP}/packages.cjs`) as { areInstalled(root: string): boolean };
const { withoutAddresses } = load(`${SETUP}/npm.cjs`) as { withoutAddresses(text: string): string };

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

function place(file: string, packages: Record<string, object>): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, file), JSON.stringify({ packages }));
}

describe('Node.js', () => {
  it.each(['v22.22.2', 'v22.23.0', 'v24.14.1', 'v24.15.0', 'v25.0.0', 'v100.1.0'])('%s is new enough', (version) => {
    expect(isNewEnough(version)).toBe(true);
  });

  it.each(['v22.22.1', 'v22.19.0', 'v23.11.1', 'v24.14.0', 'v24.0.0', 'v20.20.2', 'v9.99.0', 'v0.10.48'])(
    '%s is too old',
    (version) => {
      expect(isNewEnough(version)).toBe(false);
    },
  );
});

describe('the packages', () => {
  const wanted = { '': {}, 'node_modules/a': { version: '1.0.0', integrity: 'x' } };
  const optional = { 'node_modules/b-win32': { version: '2.0.0', optional: true } };

  it('are installed when the lock file names what is there', () => {
    place('package-lock.json', { ...wanted, ...optional });
    place('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0', integrity: 'x' } });
    expect(areInstalled(folder)).toBe(true);
  });

  it.each([
    ['nothing is there', {}],
    ['a version differs', { 'node_modules/a': { version: '1.0.1', integrity: 'x' } }],
    ['the contents differ', { 'node_modules/a': { version: '1.0.0', integrity: 'y' } }],
  ])('are not when %s', (_case, present) => {
    place('package-lock.json', wanted);
    place('node_modules/.package-lock.json', present);
    expect(areInstalled(folder)).toBe(false);
  });

  it('are not when an installation broke off', () => {
    place('package-lock.json', wanted);
    expect(areInstalled(folder)).toBe(false);
  });
});

describe('package-lock.json', () => {
  const lock: LockFile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

  it('holds the optional packages of every machine, so that npm ci takes it', () => {
    expect(missingOptional(lock)).toEqual([]);
  });

  it('names no address that packages come from', () => {
    expect(Object.values(lock.packages).filter((entry) => 'resolved' in entry)).toEqual([]);
  });

  it('is completed where a package for another machine is missing', () => {
    const entry = {
      version: '1.0.0',
      optionalDependencies: { '@a/b-linux-arm64-musl': '1.0.0', 'c-win32-x64': '3.1.0' },
    };
    const completed = completeLock({ packages: { '': {}, 'node_modules/@a/b': entry } }).packages;
    expect(completed['node_modules/@a/b-linux-arm64-musl']).toMatchObject({
      version: '1.0.0',
      cpu: ['arm64'],
      libc: ['musl'],
      os: ['linux'],
      optional: true,
    });
    expect(completed['node_modules/c-win32-x64']).toMatchObject({ version: '3.1.0', cpu: ['x64'], os: ['win32'] });
  });
});

describe('two commands in one fresh clone', () => {
  /** Each appends a line at its begin and its end. */
  const WORKER = `
    const fs = require('node:fs');
    const { withLock } = require('${SETUP}/setup-lock.cjs');
    withLock(process.argv[1], () => {}, () => {
      fs.appendFileSync(process.argv[1] + '/trace', 'begin ' + process.pid + '\\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
      fs.appendFileSync(process.argv[1] + '/trace', 'end ' + process.pid + '\\n');
    });`;

  async function runWorker(): Promise<number> {
    const child = spawn(process.execPath, ['-e', WORKER, folder], { stdio: 'inherit' });
    const [code] = await once(child, 'close');
    return code as number;
  }

  it('take turns', async () => {
    expect(await Promise.all([runWorker(), runWorker(), runWorker()])).toEqual([0, 0, 0]);
    const lines = readFileSync(join(folder, 'trace'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(6);
    for (let turn = 0; turn < 6; turn += 2) {
      expect(lines[turn + 1]).toBe(lines[turn]?.replace('begin', 'end'));
    }
  });

  it('do not wait for one that died', async () => {
    const dead = spawn(process.execPath, ['-e', '']);
    await once(dead, 'close');
    mkdirSync(join(folder, '.cache'));
    writeFileSync(join(folder, '.cache/setup.lock'), String(dead.pid));
    expect(await runWorker()).toBe(0);
  });

  it('do not wait for one that died before it wrote its name, as on a full disk', async () => {
    const lock = join(folder, '.cache/setup.lock');
    mkdirSync(join(folder, '.cache'));
    writeFileSync(lock, '');
    utimesSync(lock, new Date(), new Date(Date.now() - 60_000));
    expect(await runWorker()).toBe(0);
  });
});

it('shows what npm complains about without the addresses in it', () => {
  expect(withoutAddresses('npm error 404 GET https://example.test:8080/a/b - Not found\n')).toBe(
    'npm error 404 GET (address) - Not found',
  );
});
