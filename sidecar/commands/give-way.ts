import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 10;

/**
 * Lets a sidecar and a game server on this machine go before all threads of this process. On Linux each thread has a niceness of its own;
 * those that begin later have that of the thread that starts them.
 */
export function giveWay(): void {
  for (const id of process.platform === 'linux' ? readdirSync('/proc/self/task') : [process.pid]) {
    try {
      setPriority(Number(id), NICENESS);
    } catch {
      // It has ended, or a container forbids it: the work is then as quick as all else.
    }
  }
}
