// `strace`, with which tests make system calls of a process fail.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { provideDebianProgram } from './debian-program.ts';

const STRACE = { name: 'strace', path: 'usr/bin/strace', packages: ['strace', 'libunwind8'] };
const ATTACH_TIMEOUT_MS = 5000;

/** How it is called. Throws an Error with the reason why system calls cannot be traced here. */
export async function provideStrace(say: (line: string) => void): Promise<readonly string[]> {
  const argv = await provideDebianProgram(STRACE, say);
  await checkAttach(argv);
  return argv;
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
