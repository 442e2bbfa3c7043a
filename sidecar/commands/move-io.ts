import type { MoveReport } from '../moving/report.ts';
import { MoveProgress } from './move-progress.ts';

/** What a command that carries rows gets from its process. */
export interface MoveIo {
  readonly report: MoveReport;
  /** Writes one line. */
  readonly printError: (line: string) => void;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborted when the owner wants the command to end. */
  readonly signal: AbortSignal;
}

export function terminalReport(): MoveReport {
  const write = (text: string): void => void process.stdout.write(text);
  return new MoveProgress({
    print: (line) => write(`${line}\n`),
    draw: process.stdout.isTTY === true ? write : null,
    monotonicNow: () => performance.now(),
  });
}
