import { constants, setPriority } from 'node:os';

/** Lowest of all: work for which nobody waits. */
export const LOWEST = constants.priority.PRIORITY_LOW;

/** Lets others go before a process, or before one thread on Linux. No effect if it has ended, or if a container forbids it. */
export function lowerPriority(id: number, niceness: number): void {
  try {
    setPriority(id, niceness);
  } catch {
    // The work is then as quick as all else.
  }
}

/** For the calling thread alone, on Linux; elsewhere the whole process would change, so nothing does. */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform === 'linux') lowerPriority(0, niceness);
}
