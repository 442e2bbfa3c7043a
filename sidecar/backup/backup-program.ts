import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** End of a command that ran in its own process. */
export interface Ended {
  /** Exit code, or the reason why there was none. */
  readonly code: number | string;
  readonly output: string;
  /** Lines. */
  readonly errors: readonly string[];
}

const STOP_MS = 5000;

/** Commands of this program, one at a time, each in a process of its own: requests do not wait, and a fault ends nothing else. */
export class BackupProgram {
  readonly #program: string;
  #child: ChildProcess | null = null;

  /** @param program `main.js` */
  constructor(program: string) {
    this.#program = program;
  }

  async run(args: readonly string[]): Promise<Ended> {
    const child = spawn(process.execPath, [this.#program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    try {
      const { promise, resolve } = Promise.withResolvers<number | string>();
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(code ?? `${signal}`));
      const [code, output, errors] = await Promise.all([promise, text(child.stdout), text(child.stderr)]);
      return { code, output, errors: errors.split('\n').filter((line) => line !== '') };
    } catch (error) {
      return { code: (error as Error).message, output: '', errors: [] };
    } finally {
      this.#child = null;
    }
  }

  /** Ends a running command; `run` resolves then. */
  stop(): void {
    const child = this.#child;
    if (child === null) return;
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    child.once('close', () => clearTimeout(killer));
  }
}

/** Cause of a failure for the log and the panel: the last line of the command, without the name of the program. */
export function causeOf({ code, errors }: Ended): string {
  return errors.at(-1)?.replace(/^sidecar: /, '') ?? `its process ended with ${code}`;
}
