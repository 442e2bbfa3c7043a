// A program that tests need: the machine's own, else unpacked from Debian's packages into the cache. Nothing of the machine's
// own system is changed.
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import { usableSource } from './debian-root.ts';
import { runInstall } from './install-command.ts';
import { findProgram } from './private-command.ts';

export interface DebianProgram {
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
