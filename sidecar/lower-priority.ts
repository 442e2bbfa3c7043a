import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const TASKS = '/proc/self/task';

/** Behind calls and a game server, and ahead of work for which nobody waits. */
export const BACKGROUND = constants.priority.PRIORITY_BELOW_NORMAL;
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

/** Ids of this process's threads, on Linux; with a name only those that have it. Empty if the system does not tell. */
export function ownThreads(name?: string): number[] {
  if (process.platform !== 'linux') return [];
  try {
    const ids = readdirSync(TASKS).filter((id) => name === undefined || nameOf(id) === name);
    return ids.map(Number);
  } catch {
    return [];
  }
}

/** Null if the thread has ended since. */
function nameOf(id: string): string | null {
  try {
    return readFileSync(`${TASKS}/${id}/comm`, 'utf8').trim();
  } catch {
    return null;
  }
}
