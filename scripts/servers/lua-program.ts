// `lua5.4`, which FXServer's own Lua is made of: the machine's own, else unpacked from Debian's package into the cache. Nothing of
// the machine's own system is changed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import { usableSource } from './debian-root.ts';
import { runInstall } from './install-command.ts';
import { findProgram } from './private-command.ts';

// $1 where to. It needs readline, which no minimal Debian lacks, but a machine that is none may.
const INSTALL = `set -eu
cd "$1"
apt-get -q download lua5.4 libreadline8 || { apt-get -q update; apt-get -q download lua5.4 libreadline8; }
for file in *.deb; do dpkg-deb -x "$file" .; done
rm -- *.deb
`;

function triplet(): string {
  return `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
}

/** How it is called. Throws an Error with the reason why there is none here. */
export async function provideLua(say: (line: string) => void): Promise<readonly string[]> {
  const own = findProgram('lua5.4');
  if (own !== null) return [own];
  const folder = await unpack(say);
  const libraries = `${join(folder, 'usr/lib', triplet())}:${join(folder, 'lib', triplet())}`;
  const argv = ['env', `LD_LIBRARY_PATH=${libraries}`, join(folder, 'usr/bin/lua5.4')];
  const { status, stderr } = spawnSync(`${argv[0]}`, [...argv.slice(1), '-v'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`lua5.4 does not run here: ${stderr.trim()}`);
  return argv;
}

async function unpack(say: (line: string) => void): Promise<string> {
  usableSource();
  const folder = join(cacheFolder(), 'lua5.4');
  if (existsSync(folder)) return folder;
  const making = mkdtempSync(join(cacheFolder(), 'making-lua-'));
  try {
    await runInstall({ argv: ['sh', '-c', INSTALL, 'sh', making], cwd: making, abortSignal: 'SIGKILL' }, say);
    // Whole or not at all; two runs at once may both make it.
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}
