// `strace`, with which tests make system calls of a process fail: the machine's own, else unpacked from Debian's packages into the
// cache. Nothing of the machine's own system is changed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';
import { usableSource } from './debian-root.ts';
import { runInstall } from './install-command.ts';
import { findProgram } from './private-command.ts';

const PACKAGES = ['strace', 'libunwind8'];
// $1 where to, then packages.
const INSTALL = `set -eu
cd "$1"
shift
apt-get -q download "$@" || { apt-get -q update; apt-get -q download "$@"; }
for file in *.deb; do dpkg-deb -x "$file" .; done
rm -- *.deb
`;
const ATTACH_TIMEOUT_MS = 5000;

/** How it is called. Throws an Error with the reason why system calls cannot be traced here. */
export async function provideStrace(say: (line: string) => void): Promise<readonly string[]> {
  const own = findProgram('strace');
  const argv = own === null ? commandIn(await unpack(say)) : [own];
  await checkAttach(argv);
  return argv;
}

function commandIn(folder: string): string[] {
  const libraries = `${join(folder, `usr/lib/${triplet()}`)}:${join(folder, `lib/${triplet()}`)}`;
  return ['env', `LD_LIBRARY_PATH=${libraries}`, join(folder, 'usr/bin/strace')];
}

function triplet(): string {
  return `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
}

async function unpack(say: (line: string) => void): Promise<string> {
  usableSource();
  const folder = join(cacheFolder(), 'strace');
  if (existsSync(folder)) return folder;
  const making = mkdtempSync(join(cacheFolder(), 'making-strace-'));
  try {
    await runInstall(
      { argv: ['sh', '-c', INSTALL, 'sh', making, ...PACKAGES], cwd: making, abortSignal: 'SIGKILL' },
      say,
    );
    // Whole or not at all; two runs at once may both make it.
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** A machine may forbid it: a container without the right to trace, a hardened kernel. */
async function checkAttach(argv: readonly string[]): Promise<void> {
  const victim = spawn('sleep', ['30'], { stdio: 'ignore' });
  try {
    const tracer = await attachStrace(argv, victim.pid as number, ['-e', 'trace=none']);
    await detachStrace(tracer);
  } finally {
    victim.kill('SIGKILL');
  }
}

/** Resolves once every thread of the process is traced. */
export async function attachStrace(
  argv: readonly string[],
  pid: number,
  options: readonly string[],
): Promise<ChildProcess> {
  const [program, ...rest] = [...argv, '-f', '-o', '/dev/null', ...options, '-p', `${pid}`];
  const tracer = spawn(`${program}`, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  let said = '';
  tracer.stderr.on('data', (chunk) => {
    said += chunk;
    if (/attached/.test(said)) resolve(tracer);
  });
  tracer.once('error', (error) => reject(new Error(`system calls cannot be traced here: ${error.message}`)));
  tracer.once('exit', () => reject(new Error(`system calls cannot be traced here: ${said.trim().split('\n').at(-1)}`)));
  const timer = setTimeout(() => reject(new Error('strace does not attach')), ATTACH_TIMEOUT_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** The process goes on without it. */
export async function detachStrace(tracer: ChildProcess): Promise<void> {
  if (tracer.exitCode !== null || tracer.signalCode !== null) return;
  const gone = once(tracer, 'exit');
  tracer.kill('SIGINT');
  await gone;
}
