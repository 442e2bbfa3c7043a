import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { STOP_MESSAGE } from './stop-message.ts';

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
    detached: true,
    windowsHide: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine);
  }
  const ended = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : 1));
  const howEnded = () => (child.signalCode === null ? `code ${child.exitCode}` : `signal ${child.signalCode}`);
  return { process: child, ended, howEnded };
}

/** Asks a program to stop (stop-with-parent.ts), and kills it if it has not ended in time. */
export async function stopChild(child: ChildProgram, waitMs: number): Promise<void> {
  if (child.process.connected) child.process.send(STOP_MESSAGE, () => {});
  const timer = setTimeout(() => child.process.kill('SIGKILL'), waitMs);
  await child.ended;
  clearTimeout(timer);
}
