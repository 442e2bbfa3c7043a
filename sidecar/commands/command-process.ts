import type { CommandProcess } from './command.ts';
import { terminalReport } from './move-io.ts';

/** This process, as commands see it. */
export const COMMAND_PROCESS: CommandProcess = {
  environment: process.env,
  moveIo: (again) => ({
    report: terminalReport(),
    printError: (line) => process.stderr.write(`${line}\n`),
    environment: process.env,
    signal: endedBySignal(again),
  }),
};

/** The first signal ends the work between two pages, a second one at once. */
function endedBySignal(again: string): AbortSignal {
  const ending = new AbortController();
  const stop = (signal: string): void => {
    if (ending.signal.aborted) process.exit(1);
    ending.abort(new Error(`ended by ${signal}; ${again}`));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return ending.signal;
}

/** A reader that has seen enough, as `head`, is no fault: the work goes on, and its exit code counts. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    });
  }
}
