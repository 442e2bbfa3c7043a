import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Running } from '../processes.ts';

const SAMPLE_MS = 50;

export interface CommandCost {
  readonly seconds: number;
  /** Highest resident memory. */
  readonly megabytes: number;
}

/** Cost of a command until its end, which must be a good one. */
export async function timedCommand({ process }: Running): Promise<CommandCost> {
  const startedMs = performance.now();
  let megabytes = 0;
  while (process.exitCode === null && process.signalCode === null) {
    megabytes = Math.max(megabytes, peakMegabytes(process.pid ?? 0) ?? 0);
    await wait(SAMPLE_MS);
  }
  if (process.exitCode !== 0) throw new Error(`it ended with ${process.exitCode ?? process.signalCode}`);
  return { seconds: (performance.now() - startedMs) / 1000, megabytes };
}

/** Highest resident memory of a process so far, as the kernel counts it; null on other systems, and for one that has ended. */
function peakMegabytes(pid: number): number | null {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) / 1024;
  } catch {
    return null;
  }
}
