import { readErrorMessage } from './readers.ts';
import type { DbResult } from './result.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;
/** After this long of waiting one line says so. */
const PATIENCE_MS = 10_000;

export interface ReadinessWork {
  readonly ask: (deliver: (result: DbResult) => void) => void;
  readonly isStopped: () => boolean;
  readonly log: (line: string) => void;
}

/**
 * Asks for health again and again until the sidecar itself has answered, whatever it says; a signed answer has a status.
 * Ends with the last error if the bundle has stopped meanwhile.
 */
export function awaitSidecar(work: ReadinessWork, deliver: (result: DbResult) => void): void {
  const beganAt = performance.now();
  let isTold = false;
  const attempt = (pauseMs: number): void =>
    work.ask((result) => {
      if (result.Status > 0 || work.isStopped()) return deliver(result);
      if (!isTold && performance.now() - beganAt > PATIENCE_MS) {
        isTold = true;
        work.log(`still waiting for the database: ${readErrorMessage(result)}; db-health says more`);
      }
      setTimeout(() => attempt(Math.min(pauseMs * 2, LONGEST_PAUSE_MS)), pauseMs);
    });
  attempt(FIRST_PAUSE_MS);
}
