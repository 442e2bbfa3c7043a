import { isAbsolute, join } from 'node:path';
import { findProgram, isProgram } from '../../programs/find-program.ts';
import { runProgram } from '../../programs/run-program.ts';
import { splitLine } from '../../server/process/backends/command.ts';
import { childEnvironment } from '../../server/process/child-environment.ts';
import { type Delivery, shownAnswer, TRY_MS } from './delivery.ts';

export interface CommandPlace {
  /** Folder of the server. */
  readonly folder: string;
  /** Variables that the configuration names for secrets; the program gets the others, as the server does. */
  readonly secretVariables: ReadonlySet<string>;
}

const MOST_CHARS = 4096;
const DRAIN_MS = 500;

/** Runs a program once with the input, no shell in between. Its process group is ended after 10 seconds. Never throws. */
export async function runCommand(
  line: string,
  input: string,
  { folder, secretVariables }: CommandPlace,
  signal: AbortSignal,
  timeoutMs = TRY_MS,
): Promise<Delivery> {
  const began = performance.now();
  let output = '';
  const end = (delivered: boolean, status: number | null, error: Delivery['error']): Delivery => ({
    ...{ delivered, status, error, answer: shownAnswer(output, []), retryAfterMs: null },
    ms: Math.round(performance.now() - began),
  });
  const environment = childEnvironment(process.env, secretVariables, '');
  const [name = '', ...args] = splitLine(line);
  const program = programOf(name, folder);
  if (program === null) return end(false, null, 'spawn');
  try {
    const { code, stopped } = await runProgram({
      ...{ program, args, folder, home: environment.HOME ?? folder, path: environment.PATH ?? '' },
      ...{ variables: environment as Record<string, string>, input, signal, timeoutMs, graceMs: 0, drainMs: DRAIN_MS },
      isLogged: true,
      onText: (text) => {
        if (output.length < MOST_CHARS) output += text;
      },
    });
    if (stopped !== null && code === null) return end(false, null, 'timeout');
    return end(code === 0, code, code === 0 ? null : 'exit');
  } catch {
    return end(false, null, 'spawn');
  }
}

function programOf(name: string, folder: string): string | null {
  if (!/[/\\]/.test(name)) return findProgram(name);
  const file = isAbsolute(name) ? name : join(folder, name);
  return isProgram(file) ? file : null;
}
