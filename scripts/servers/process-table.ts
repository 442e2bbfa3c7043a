// Processes by number and start time: a number alone may belong to another process meanwhile.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessMark {
  readonly pid: number;
  readonly started: string;
}

interface Stat {
  readonly parent: number;
  readonly state: string;
  readonly started: string;
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** The fields after the program's name, which may itself hold spaces and brackets. */
function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', parent: Number(fields[1]), started: `${fields[19]}` };
  } catch {
    return null;
  }
}

/** Null if no such process lives; a dead process that was not collected yet counts as gone. */
function startOf(pid: number): string | null {
  if (process.platform === 'linux') {
    const stat = readStat(pid);
    return stat === null || stat.state === 'Z' || stat.state === 'X' ? null : `${bootId()} ${stat.started}`;
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

export function markOf(pid: number): ProcessMark {
  return { pid, started: startOf(pid) ?? 'gone' };
}

export function isAlive(mark: ProcessMark): boolean {
  return startOf(mark.pid) === mark.started;
}

function parents(): Map<number, number> {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    return new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]));
  }
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return new Map(pids.map((pid) => [pid, readStat(pid)?.parent ?? 0]));
}

/** The process and all below it, parents first. */
export function familyOf(pid: number): number[] {
  const table = parents();
  const family = [pid];
  for (const member of family) {
    for (const [child, parent] of table) if (parent === member && !family.includes(child)) family.push(child);
  }
  return family;
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Signals a process and all below it, and again until no new one has appeared meanwhile. */
export function signalFamily(pid: number, name: NodeJS.Signals): void {
  const done = new Set<number>();
  for (;;) {
    const fresh = familyOf(pid).filter((member) => !done.has(member));
    if (fresh.length === 0) return;
    for (const member of fresh) {
      done.add(member);
      signal(member, name);
    }
  }
}
