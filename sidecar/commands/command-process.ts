import { isFullDisk } from '../full-disk.ts';
import type { MoveReport } from '../moving/report.ts';
import { holdHeap } from '../nursery.ts';
import { giveWay, waitForIdle } from './give-way.ts';
import { MoveProgress } from './move-progress.ts';

/** Parts of its process that a command uses. */
export interface CommandProcess {
  readonly environment: NodeJS.ProcessEnv;
  /** For a command that carries rows. `again`: what the same command does after a signal has ended this one. */
  moveIo(again: string): MoveIo;
  /** For work beside a sidecar that serves: this process gives way to it. */
  giveWay(): void;
}

/** Parts of its process that a command which answers in lines uses. */
export interface CommandIo {
  /** Writes one line for the owner. */
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  /** Lists are aligned lines for people; otherwise one JSON object a line. */
  readonly isForPeople: boolean;
}

/** Parts of its process that a command which carries rows uses. */
export interface MoveIo {
  readonly report: MoveReport;
  /** Writes one line. */
  readonly printError: (line: string) => void;
  readonly environment: NodeJS.ProcessEnv;
  /** For work that nobody waits for: it runs when nothing else on the machine wants to. */
  readonly waitForIdle: () => void;
  /** Aborted when the owner wants the command to end. */
  readonly signal: AbortSignal;
}

/** This process, as commands see it. */
export const COMMAND_PROCESS: CommandProcess = {
  environment: process.env,
  moveIo(again) {
    holdHeap();
    return {
      report: terminalReport(),
      printError: (line) => process.stderr.write(`${line}\n`),
      environment: process.env,
      waitForIdle,
      signal: endedBySignal(again),
    };
  },
  giveWay,
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
      if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
      if (stream === process.stdout) process.stderr.write(`sidecar: ${outputFault(error)}\n`);
      process.exit(1);
    });
  }
}

function outputFault(error: Error): string {
  if (!isFullDisk(error)) return `standard output cannot be written: ${error.message}`;
  return 'standard output goes to a full disk: make room there, and run the same command again';
}

/** Lines for people go to a terminal only; `isJson` forbids them there as well. */
export function terminalIo(isJson: boolean): CommandIo {
  return {
    print: (line) => process.stdout.write(`${line}\n`),
    printError: (line) => process.stderr.write(`${line}\n`),
    isForPeople: process.stdout.isTTY === true && !isJson,
  };
}

function terminalReport(): MoveReport {
  const write = (text: string): void => void process.stdout.write(text);
  return new MoveProgress({
    print: (line) => write(`${line}\n`),
    draw: process.stdout.isTTY === true ? write : null,
    monotonicNow: () => performance.now(),
  });
}
