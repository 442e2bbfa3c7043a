import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { readStat } from './group.ts';

const run = promisify(execFile);
const LIMIT_MS = 10_000;

/**
 * Tells a process from a later one that was given the same number: when it was started, as its system writes it. null where
 * there is no such process, or nothing tells.
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

/** Ticks begin anew with the machine, so its start belongs to them. */
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
