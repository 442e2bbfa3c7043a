import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

export interface Running {
  readonly process: ChildProcess;
  /** Resolves with the first line that `pick` makes something of. */
  until<T>(pick: (line: string) => T | null): Promise<T>;
  stop(): Promise<void>;
}

/** A program of Node.js whose lines are read, and whose errors are shown. */
export function start(args: readonly string[]): Running {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const listeners = new Set<(line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const listener of listeners) listener(line);
  });
  const closed = once(child, 'close');
  return {
    process: child,
    until(pick) {
      const { promise, resolve, reject } = Promise.withResolvers<NonNullable<ReturnType<typeof pick>>>();
      const look = (line: string) => {
        const picked = pick(line);
        if (picked !== null && picked !== undefined) resolve(picked);
      };
      for (const line of lines) look(line);
      listeners.add(look);
      void closed.then(([code]) => reject(new Error(`${args[0]} ended with ${code}: ${lines.slice(-5).join('\n')}`)));
      return promise.finally(() => listeners.delete(look));
    },
    async stop() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

/** Runs a program to its end and returns its last line. */
export async function run(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
  return Buffer.concat(chunks).toString().trim().split('\n').at(-1) ?? '';
}

export interface Memory {
  readonly rssMegabytes: number;
  /** Shared pages counted by share; what the process would give back. */
  readonly pssMegabytes: number;
}

/** Of a process on Linux; null elsewhere. */
export function memoryOf(pid: number): Memory | null {
  if (process.platform !== 'linux') return null;
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024;
  return { rssMegabytes: megabytes('Rss'), pssMegabytes: megabytes('Pss') };
}

/** Processor time of all threads of a process so far, on Linux; the kernel counts in hundredths of a second. */
export function cpuMicrosOf(pid: number): number | null {
  if (process.platform !== 'linux') return null;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
