import { readdirSync } from 'node:fs';
import { lowerPriority } from '../lower-priority.ts';

const NICENESS = 10;

/**
 * Lets a sidecar and a game server on this machine go before all threads of this process. On Linux each thread has a niceness of its own;
 * those that begin later have that of the thread that starts them.
 */
export function giveWay(): void {
  const ids = process.platform === 'linux' ? readdirSync('/proc/self/task') : [process.pid];
  for (const id of ids) lowerPriority(Number(id), NICENESS);
}
