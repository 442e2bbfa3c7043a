import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { create } from 'tar';
import { vi } from 'vitest';
import { cacheFolder } from '#scripts/servers/cache-folder.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { runInstall } from '#scripts/servers/install-command.ts';
import { findProgram } from '#scripts/servers/private-command.ts';

/** The newest line that installs everywhere: later ones depend on a package by a tag that not every registry has. */
const VERDACCIO = 'verdaccio@4.13.2';

async function provideVerdaccio(): Promise<string> {
  const folder = cacheFolder();
  const done = join(folder, 'verdaccio-4');
  const program = 'node_modules/verdaccio/bin/verdaccio';
  if (existsSync(join(done, program))) return join(done, program);
  const making = mkdtempSync(join(folder, 'making-verdaccio-'));
  try {
    writeFileSync(join(making, 'package.json'), '{}');
    const argv = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', VERDACCIO];
    await runInstall({ argv, cwd: making, abortSignal: 'SIGKILL' }, () => {});
    // Atomic: two runs at once may both make it.
    if (!existsSync(done)) renameSync(making, done);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return join(done, program);
}

const program = await provideVerdaccio().catch((error: Error) => error);

/** Folder of an npm of this machine that is new enough, or null. */
export const npmFolder = findNpm();

/** Why there is no registry here, or null. */
export const noRegistry: string | null =
  program instanceof Error ? program.message : npmFolder === null ? 'no npm 11.19.1 or newer' : null;

export interface PackageDraft {
  readonly name: string;
  readonly version: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Fields of its package.json. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Default: long ago. */
  readonly publishedAt?: string;
}

export interface NpmRegistry {
  /** `http://127.0.0.1:PORT/` */
  readonly url: string;
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** Entry of a lock for a package that was published. */
  locked(name: string, version: string): Readonly<Record<string, unknown>>;
  publish(draft: PackageDraft): Promise<void>;
  stop(): Promise<void>;
}

/** A real registry with the packages of the tests, written into its storage. */
export async function startRegistry(folder: string): Promise<NpmRegistry> {
  const storage = join(folder, 'storage');
  mkdirSync(storage, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const config = {
    ...{ storage, auth: { htpasswd: { file: join(folder, 'htpasswd') } }, uplinks: {}, web: { enable: false } },
    ...{ packages: { '**': { access: '$all' } }, logs: [{ type: 'stdout', format: 'json', level: 'warn' }] },
  };
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  const args = [String(program), '-c', join(folder, 'config.yaml'), '-l', `127.0.0.1:${port}`];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: folder },
  });
  await vi.waitFor(async () => void (await fetch(`${url}-/ping`)), { timeout: 60_000 });
  const entries = new Map<string, Readonly<Record<string, unknown>>>();
  return {
    ...{ url, host: `127.0.0.1:${port}` },
    locked: (name, version) => entries.get(`${name}@${version}`) ?? {},
    async publish(draft) {
      entries.set(`${draft.name}@${draft.version}`, await write(draft, storage, folder, url));
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function write(
  draft: PackageDraft,
  storage: string,
  folder: string,
  url: string,
): Promise<Record<string, unknown>> {
  const { name, version, files = {}, manifest = {}, publishedAt = '2024-01-01T00:00:00.000Z' } = draft;
  const work = mkdtempSync(join(folder, 'package-'));
  const own = { name, version, license: 'MIT', ...manifest };
  for (const [path, content] of Object.entries({ ...files, 'package.json': JSON.stringify(own) })) {
    mkdirSync(join(work, 'package', path, '..'), { recursive: true });
    writeFileSync(join(work, 'package', path), content, { mode: 0o755 });
  }
  const base = name.split('/').at(-1) ?? name;
  const archive = join(storage, name, `${base}-${version}.tgz`);
  mkdirSync(join(storage, name), { recursive: true });
  await create({ file: archive, cwd: work, gzip: true, portable: true }, ['package']);
  const bytes = readFileSync(archive);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const shasum = createHash('sha1').update(bytes).digest('hex');
  const tarball = `${url}${name}/-/${base}-${version}.tgz`;
  const file = join(storage, name, 'package.json');
  const known = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { versions: {}, time: {}, _attachments: {} };
  const packument = {
    ...{ name, 'dist-tags': { latest: version }, _uplinks: {}, _distfiles: {}, _rev: '1-0', readme: '' },
    versions: { ...known.versions, [version]: { ...own, dist: { integrity, shasum, tarball } } },
    time: { created: publishedAt, modified: publishedAt, ...known.time, [version]: publishedAt },
    _attachments: { ...known._attachments, [`${base}-${version}.tgz`]: { shasum } },
  };
  writeFileSync(file, JSON.stringify(packument));
  return { version, resolved: tarball, integrity, license: 'MIT' };
}

function findNpm(): string | null {
  try {
    // `npm` is a link to `npm-cli.js`.
    const folder = join(dirname(realpathSync(`${findProgram('npm')}`)), '..');
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
    return major > 11 || (major === 11 && (minor > 19 || (minor === 19 && patch >= 1))) ? folder : null;
  } catch {
    return null;
  }
}

/** Packs this machine's npm as an owner would put it into the inbox. Returns its version. */
export async function packNpm(inbox: string): Promise<string> {
  const work = mkdtempSync(join(cacheFolder(), 'npm-'));
  cpSync(String(npmFolder), join(work, 'package'), { recursive: true, filter: (path) => !path.endsWith('/.bin') });
  const { version } = JSON.parse(readFileSync(join(work, 'package/package.json'), 'utf8')) as {
    readonly version: string;
  };
  mkdirSync(inbox, { recursive: true });
  await create({ file: join(inbox, `npm-${version}.tgz`), cwd: work, gzip: { level: 1 }, portable: true }, ['package']);
  rmSync(work, { recursive: true });
  return version;
}
