import { readFile } from 'node:fs/promises';
import pidusage from 'pidusage';

export interface Usage {
  /** Percent of one processor. */
  readonly processor: number;
  /** Bytes. */
  readonly memory: number;
}

const MAX_PROCESSES = 32;

/** Of a process and those that it started; null where it has gone. */
export async function usageOf(pid: number): Promise<Usage | null> {
  try {
    const all = await pidusage(await familyOf(pid));
    let [processor, memory] = [0, 0];
    for (const usage of Object.values(all)) {
      // One of them may have ended meanwhile.
      if (usage === null || usage === undefined) continue;
      processor += usage.cpu;
      memory += usage.memory;
    }
    return { processor, memory };
  } catch {
    return null;
  }
}

/** A start script stays the parent of the server itself; a server may have started this sidecar, which counts apart. */
async function familyOf(pid: number): Promise<number[]> {
  const family = [pid];
  // Only Linux says quickly who the children are.
  if (process.platform !== 'linux') return family;
  for (let place = 0; place < family.length && family.length < MAX_PROCESSES; place++) {
    const parent = family[place];
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'latin1').catch(() => '');
    const pids = children.split(' ').filter(Boolean).map(Number);
    family.push(...pids.filter((child) => child !== process.pid));
  }
  return family.slice(0, MAX_PROCESSES);
}

/** This very process, from one reading to the next. */
export class OwnUsage {
  #last = process.cpuUsage();
  #lastAt = performance.now();

  take(): Usage {
    const now = performance.now();
    const used = process.cpuUsage(this.#last);
    const elapsedMs = Math.max(1, now - this.#lastAt);
    this.#last = process.cpuUsage();
    this.#lastAt = now;
    return { processor: (used.user + used.system) / 1000 / elapsedMs / 0.01, memory: process.memoryUsage.rss() };
  }
}
