import type { ServerExit } from '../shapes/server.ts';
import type { ActiveRun } from './active-run.ts';
import type { CrashRecords } from './crashes.ts';
import { describeExit } from './describe-run.ts';
import type { RunEnd } from './server-run.ts';

export interface EndReaders {
  readonly say: (text: string) => void;
  readonly crashes: CrashRecords;
}

/** Tells the console how a run has ended, and leaves a record of a crash. Of one that an earlier sidecar has begun nothing is known. */
export function reportEnd(run: ActiveRun, end: RunEnd, { say, crashes }: EndReaders): void {
  if (!run.isLeft) say(describeExit(end));
  if (end.isLeftOver)
    say('Some processes of the server did not end, even after a kill; look at them with the tools of the system');
  if (run.isLeft || end.isAsked) return;
  const { isUp, bundles } = run.condition;
  try {
    crashes.add({ exit: exitOf(end), failure: end.failure, startedAt: run.startedAt, isUp, bundles });
  } catch (error) {
    // A disk that is full must not keep the server down.
    say(`This crash could not be recorded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function exitOf({ code, signal, failure, isAsked }: RunEnd): ServerExit {
  return { code, signal, reason: isAsked ? 'asked' : failure === null ? 'crash' : 'spawn' };
}
