// A program that tests need: the machine's own, else unpacked from Debian's packages into the cache. Nothing of the machine's
// own system is changed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import { usableSource } from './debian-root.ts';
import { runInstall } from './install-command.ts';
import { findProgram } from './private-command.ts';

interface DebianProgram {
  readonly name: string;
  /** Inside the unpacked packages. */
  readonly path: string;
  /** It and what a minimal Debian lacks of its libraries. */
  readonly packages: readonly string[];
}

// $1 where to, then packages.
const INSTALL = `set -eu
cd "$1"
shift
apt-get -q download "$@" || { apt-get -q update; apt-get -q download "$@"; }
for file in *.deb; do dpkg-deb -x "$file" .; done
rm -- *.deb
`;

/** How it is called. Throws an Error with the reason why there is none here. */
export async function provideDebianProgram(
  program: DebianProgram,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const own = findProgram(program.name);
  if (own !== null) return [own];
  const folder = await unpack(program, say);
  const libraries = ['usr/lib', 'lib'].map((parent) => join(folder, parent, triplet())).join(':');
  return ['env', `LD_LIBRARY_PATH=${libraries}`, join(folder, program.path)];
}

function triplet(): string {
  return `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
}

async function unpack({ name, packages }: DebianProgram, say: (line: string) => void): Promise<string> {
  usableSource();
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  const making = mkdtempSync(join(cacheFolder(), `making-${name}-`));
  try {
    const argv = ['sh', '-c', INSTALL, 'sh', making, ...packages];
    await runInstall({ argv, cwd: making, abortSignal: 'SIGKILL' }, say);
    // Atomic: two runs at once may both make it.
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** `nginx`, for the examples of a reverse proxy: how it is called. Throws an Error with the reason why there is none here. */
export function provideNginx(say: (line: string) => void): Promise<readonly string[]> {
  return provideRunning({ name: 'nginx', path: 'usr/sbin/nginx', packages: ['nginx', 'libpcre2-8-0'] }, say);
}

/** `lua5.4`, which FXServer's own Lua is made of: how it is called. Throws an Error with the reason why there is none here. */
export function provideLua(say: (line: string) => void): Promise<readonly string[]> {
  // readline is in every Debian, but another system may lack it.
  return provideRunning({ name: 'lua5.4', path: 'usr/bin/lua5.4', packages: ['lua5.4', 'libreadline8'] }, say);
}

/** `age`, which must open what we encrypt: how it is called. Throws an Error with the reason why there is none here. */
export function provideAge(say: (line: string) => void): Promise<readonly string[]> {
  return provideDebianProgram({ name: 'age', path: 'usr/bin/age', packages: ['age'] }, say);
}

/** `zstd`, which must open what we compress. Throws an Error with the reason why there is none here. */
export function provideZstd(say: (line: string) => void): Promise<readonly string[]> {
  return provideDebianProgram({ name: 'zstd', path: 'usr/bin/zstd', packages: ['zstd', 'liblz4-1'] }, say);
}

/** `7zz`, a maker of ZIPs that is not ours. Throws an Error with the reason why there is none here. */
export function provideSevenZip(say: (line: string) => void): Promise<readonly string[]> {
  return provideDebianProgram({ name: '7zz', path: 'usr/bin/7zz', packages: ['7zip'] }, say);
}

/** `oathtool`, an authenticator that is not ours. Throws an Error with the reason why there is none here. */
export function provideOathtool(say: (line: string) => void): Promise<readonly string[]> {
  return provideDebianProgram({ name: 'oathtool', path: 'usr/bin/oathtool', packages: ['oathtool', 'liboath0'] }, say);
}

/** `promtool`, Prometheus' own judge of metrics and rules. Throws an Error with the reason why there is none here. */
export function providePromtool(say: (line: string) => void): Promise<readonly string[]> {
  return provideDebianProgram({ name: 'promtool', path: 'usr/bin/promtool', packages: ['prometheus'] }, say);
}

async function provideRunning(program: DebianProgram, say: (line: string) => void): Promise<readonly string[]> {
  const argv = await provideDebianProgram(program, say);
  const { status, stderr } = spawnSync(`${argv[0]}`, [...argv.slice(1), '-v'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program.name} does not run here: ${stderr.trim()}`);
  return argv;
}
