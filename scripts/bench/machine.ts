import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SAMPLE_MS = 1500;
/** Share of the processors that others may have before a part begins, for its rates to count. */
const QUIET_SHARE = 0.06;

/** Jiffies of all processors since the machine started: not idle, taken by the host of a virtual machine, and all; 0 if unknown. */
export function processorTimes(): { busy: number; stolen: number; all: number } {
  if (process.platform !== 'linux') return { busy: 0, stolen: 0, all: 0 };
  const fields =
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? [];
  const all = fields.reduce((sum, each) => sum + each, 0);
  const [, , , idle = 0, waiting = 0, , , stolen = 0] = fields;
  return { busy: all - idle - waiting, stolen, all };
}

/** Share of the processors that anybody has now, the host of a virtual machine included; null if it is unknown. */
export async function busyShare(): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const before = processorTimes();
  await wait(SAMPLE_MS);
  const after = processorTimes();
  return (after.busy - before.busy) / (after.all - before.all);
}

/** Samples of the machine while the bench itself does nothing. */
export class Quietness {
  readonly #shares: number[] = [];

  async sample(): Promise<boolean> {
    const share = await busyShare();
    if (share === null) return false;
    this.#shares.push(share);
    return share <= QUIET_SHARE;
  }

  /** Whether the machine was quiet before each part. */
  get isQuiet(): boolean {
    return this.#shares.every((share) => share <= QUIET_SHARE);
  }

  get worstPercent(): number | null {
    return this.#shares.length === 0 ? null : 100 * Math.max(...this.#shares);
  }
}

export function machineText(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const cpus = os.cpus();
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node.js ${process.versions.node}`,
    `${cpus.length} × ${cpus[0]?.model ?? 'unknown processor'}, ${Math.round(os.totalmem() / 2 ** 30)} GB, ${os.type()} ${os.release()}`,
  ].join('; ');
}
