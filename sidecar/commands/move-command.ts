import { runCopy } from './copy.ts';
import { type MoveIo, terminalReport } from './move-io.ts';

/** Commands that carry rows; each reads its own arguments. */
const MOVES: Readonly<Record<string, (args: readonly string[], io: MoveIo) => Promise<boolean>>> = {
  copy: runCopy,
  // With its driver, which nobody else needs.
  import: async (args, io) => (await import('./import.ts')).runImport(args, io),
};

export function isMove(name: string | undefined): name is string {
  return name !== undefined && Object.hasOwn(MOVES, name);
}

/**
 * Runs `copy` or `import`; true where all was done. The first signal ends it between two pages, a second one at once.
 * Throws what the owner is to read as one line.
 */
export async function runMove([name, ...args]: readonly string[]): Promise<boolean> {
  const run = MOVES[name ?? ''];
  if (run === undefined) throw new Error(`unknown command ${name}`);
  const ending = new AbortController();
  const stop = (signal: string): void => {
    if (ending.signal.aborted) process.exit(1);
    const again = name === 'copy' ? 'goes on where this one stopped' : 'begins anew';
    ending.abort(new Error(`ended by ${signal}; the same command ${again}`));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return run(args, {
    report: terminalReport(),
    printError: (line) => process.stderr.write(`${line}\n`),
    environment: process.env,
    signal: ending.signal,
  });
}
