import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ChildProgram {
  readonly process: ChildProcess;
  /** Resolves with the exit code (1 after a signal) once all its output has been handed over. */
  readonly ended: Promise<number>;
  /** `code 1`, `signal SIGKILL`; of one that has ended. */
  howEnded(): string;
}

export interface ChildOptions {
  readonly args: readonly string[];
  readonly onLine: (line: string) => void;
}

const PRELOAD = new URL('./stop-with-parent.ts', import.meta.url).href;

/**
 * A program of ours with its lines handed to us. It has a process group of its own, so that Ctrl+C reaches this process alone
 * and it decides when the program stops; and it ends when this process does, however that ends.
 */
export function startChild({ args, onLine }: ChildOptions): ChildProgram {
  const child = spawn(process.execPath, ['--import', PRELOAD, ...args], {
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    detached: process.platform !== 'win32',
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine);
  }
  const ended = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : 1));
  const howEnded = () => (child.signalCode === null ? `code ${child.exitCode}` : `signal ${child.signalCode}`);
  return { process: child, ended, howEnded };
}

/** Asks a program to stop, and ends it where it has not by then. */
export async function stopChild(child: ChildProgram, waitMs: number): Promise<void> {
  if (child.process.exitCode === null && child.process.signalCode === null) child.process.kill('SIGTERM');
  const timer = setTimeout(() => child.process.kill('SIGKILL'), waitMs);
  await child.ended;
  clearTimeout(timer);
}
