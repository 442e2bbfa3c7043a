// The long steps: packages, compiling. The end of a run ends them first, and waits until half-made files are removed.
import { type ChildProcess, spawn } from 'node:child_process';
import { endedWithUs } from './private-command.ts';

const LINES_KEPT = 12;

const running = new Map<ChildProcess, NodeJS.Signals>();

let isAborted = false;

export interface InstallCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Signal that ends it and everything below it. */
  readonly abortSignal: NodeJS.Signals;
}

/** Resolves when it has done its work; rejects with its last line. All of its last words go to `say`. */
export function runInstall({ argv, cwd, abortSignal }: InstallCommand, say: (line: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (isAborted) return Promise.reject(new Error('stopped'));
  const command = endedWithUs(abortSignal, argv);
  const child = spawn(`${command[0]}`, command.slice(1), { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  running.set(child, abortSignal);
  let last: string[] = [];
  const read = (chunk: Buffer): void => {
    last = [...last, ...chunk.toString().split('\n')].filter((line) => line.trim() !== '').slice(-LINES_KEPT);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  child.on('error', reject);
  // Closed, not only ended: then no program below it holds its output any more.
  child.on('close', (code) => {
    running.delete(child);
    if (code === 0) return resolve();
    if (!isAborted) say(last.join('\n'));
    reject(new Error(isAborted ? 'stopped' : (last.at(-1) ?? `code ${code}`)));
  });
  return promise;
}

/** Ends those that run, and those that would come. */
export function abortInstalls(): void {
  isAborted = true;
  for (const [child, signal] of running) child.kill(signal);
}
