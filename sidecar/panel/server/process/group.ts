import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** What a ladder does to a process and all that it has started. */
export type GroupSignal = 'terminate' | 'kill';

/**
 * The process of a server and what it has started: on POSIX its process group, whose number is that of the process; on
 * Windows the tree below it. Never throws where nothing is left of it.
 */
export function signalGroup(pid: number, signal: GroupSignal): void {
  if (process.platform === 'win32') {
    const force = signal === 'kill' ? ['/F'] : [];
    execFile('taskkill', ['/PID', String(pid), '/T', ...force], { windowsHide: true }, () => {});
    return;
  }
  try {
    process.kill(-pid, signal === 'kill' ? 'SIGKILL' : 'SIGTERM');
  } catch {
    // Nobody is left of it.
  }
}

export function isGroupAlive(pid: number): boolean {
  if (process.platform === 'linux') return groupMembers(pid).length > 0;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Linux: who lives of a group. The kernel counts the dead that nobody has waited for as members, and where process 1 is no
 * init (most containers) nobody ever does.
 */
export function groupMembers(group: number): number[] {
  try {
    process.kill(-group, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return [];
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = readStat(pid);
      return stat !== null && stat.group === group && !'ZX'.includes(stat.state);
    });
}

interface Stat {
  readonly state: string;
  readonly group: number;
  /** Clock ticks since the machine's start. */
  readonly startedTicks: string;
}

/** Linux, proc(5). The name of the program stands in parentheses and may hold anything. */
export function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', group: Number(fields[2]), startedTicks: fields[19] ?? '' };
  } catch {
    return null;
  }
}
