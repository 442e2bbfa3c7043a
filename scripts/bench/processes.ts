import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Running {
  readonly process: ChildProcess;
  /** Resolves with the first line that `pick` makes something of. */
  until<T>(pick: (line: string) => T | null): Promise<T>;
  stop(): Promise<void>;
}

const POLL_MS = 50;

/**
 * A program of Node.js with its output in a file, as a service has it: read while it runs, it would cost the one who measures
 * more than the one who is measured. Its errors are shown.
 */
export function start(args: readonly string[], outputFile: string): Running {
  const output = openSync(outputFile, 'w');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: ROOT,
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  const closed = once(child, 'close');
  return {
    process: child,
    async until(pick) {
      for (;;) {
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        for (const line of readFileSync(outputFile, 'utf8').split('\n').slice(0, -1)) {
          const picked = pick(line);
          if (picked !== null) return picked;
        }
        if (hasEnded) throw new Error(`${args[0]} has ended: ${readFileSync(outputFile, 'utf8').slice(-1000)}`);
        await wait(POLL_MS);
      }
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

/** Memory of a process on Linux; null elsewhere. */
export function memoryOf(pid: number): Memory | null {
  if (process.platform !== 'linux') return null;
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024;
  return { rssMegabytes: megabytes('Rss'), pssMegabytes: megabytes('Pss') };
}

/** Processor time of all threads of a process that run now, on Linux: the scheduler counts in nanoseconds. */
export function cpuMicrosOf(pid: number): number | null {
  if (process.platform !== 'linux') return null;
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000;
}
