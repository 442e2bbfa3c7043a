import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Start times this close to each other are one start: the clock may have been set a little in between. */
const SAME_BOOT_SECONDS = 5;

/** What tells this start of the machine from any other. */
export function readBootId(nowMs: number): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return `started:${Math.round(nowMs / 1000 - uptime())}`;
  }
}

export function isSameBoot(a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [startOf(a), startOf(b)];
  return first !== null && second !== null && Math.abs(first - second) <= SAME_BOOT_SECONDS;
}

function startOf(id: string): number | null {
  const match = /^started:(\d+)$/.exec(id);
  return match === null ? null : Number(match[1]);
}
