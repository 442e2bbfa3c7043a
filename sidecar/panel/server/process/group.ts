import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { GroupSignal } from './game-process.ts';

const run = promisify(execFile);
const LIMIT_MS = 10_000;

/** Longest time that a killed group may take to end: a process that hangs in the kernel must not hang the panel. */
const KILLED_MS = 5000;
const LOOK_MS = { first: 10, longest: 200 };

/** A process with all that it has started. After its end the number may belong to another process, so no signal is sent. */
export class ProcessGroup {
  readonly #pid: number;
  #isGone = false;
  #killedAt = Number.POSITIVE_INFINITY;

  constructor(pid: number) {
    this.#pid = pid;
  }

  signal(signal: GroupSignal): void {
    if (this.#isGone) return;
    if (signal === 'kill') this.#killedAt = Math.min(this.#killedAt, performance.now());
    signalGroup(this.#pid, signal);
  }

  isAlive(): boolean {
    this.#isGone ||= !isGroupAlive(this.#pid);
    return !this.#isGone;
  }

  /** After the exit of its process. Resolves with whether all have ended: false if members survive a kill for too long. */
  async ended(): Promise<boolean> {
    const exitedAt = performance.now();
    for (let waitMs = LOOK_MS.first; this.isAlive(); waitMs = Math.min(2 * waitMs, LOOK_MS.longest)) {
      if (performance.now() - Math.max(this.#killedAt, exitedAt) > KILLED_MS) break;
      await delay(waitMs);
    }
    const hasEnded = this.#isGone;
    this.#isGone = true;
    return hasEnded;
  }
}

/**
 * Signals a process and all that it has started: on POSIX its process group, whose number is the process id; on Windows the
 * tree below it. Does not throw if the group has ended.
 */
function signalGroup(pid: number, signal: GroupSignal): void {
  if (process.platform === 'win32') {
    const force = signal === 'kill' ? ['/F'] : [];
    execFile('taskkill', ['/PID', String(pid), '/T', ...force], { windowsHide: true }, () => {});
    return;
  }
  try {
    process.kill(-pid, signal === 'kill' ? 'SIGKILL' : 'SIGTERM');
  } catch {
    // The group has ended.
  }
}

function isGroupAlive(pid: number): boolean {
  if (process.platform === 'linux') return groupMembers(pid).length > 0;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Linux: living members of a group. The kernel counts dead processes as members until their parent waits for them, and if
 * process 1 is no init (most containers) it never does.
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

/** Linux, proc(5). The program's name is in parentheses and may contain any character. */
export function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', group: Number(fields[2]), startedTicks: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/**
 * Start time of a process as the system writes it, which tells the process from a later one with the same number. null if
 * there is no such process, or its start time is unknown.
 */
export async function readStartMark(pid: number): Promise<string | null> {
  try {
    if (process.platform === 'linux') return linuxMark(pid);
    const [program, args] =
      process.platform === 'win32'
        ? (['powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.Ticks`]] as const)
        : (['ps', ['-o', 'lstart=', '-p', String(pid)]] as const);
    const { stdout } = await run(program, args, { timeout: LIMIT_MS, windowsHide: true });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

/** Ticks restart with the machine, so the mark includes the id of its boot. */
function linuxMark(pid: number): string | null {
  const stat = readStat(pid);
  if (stat === null || 'ZX'.includes(stat.state)) return null;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${stat.startedTicks}`;
}

/** Linux: whether the process was started with this variable. */
export function hasVariable(pid: number, name: string, value: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${name}=${value}`);
  } catch {
    return false;
  }
}
