import { readFile } from 'node:fs/promises';
import pidusage from 'pidusage';

export interface Usage {
  /** Percent of one processor. */
  readonly processor: number;
  /** Bytes. */
  readonly memory: number;
}

const MAX_PROCESSES = 32;

/** Usage of a process and its descendants; null if it has ended. */
export async function usageOf(pid: number): Promise<Usage | null> {
  try {
    const all = await pidusage(await familyOf(pid));
    let [processor, memory] = [0, 0];
    for (const usage of Object.values(all)) {
      // A child may have ended meanwhile.
      if (usage === null || usage === undefined) continue;
      processor += usage.cpu;
      memory += usage.memory;
    }
    return { processor, memory };
  } catch {
    return null;
  }
}

/** The process and its descendants: a start script is the parent of the server. Without this sidecar, which a server may have started. */
async function familyOf(pid: number): Promise<number[]> {
  const family = [pid];
  // Only Linux lists children quickly.
  if (process.platform !== 'linux') return family;
  for (let place = 0; place < family.length && family.length < MAX_PROCESSES; place++) {
    const parent = family[place];
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'latin1').catch(() => '');
    const pids = children.split(' ').filter(Boolean).map(Number);
    family.push(...pids.filter((child) => child !== process.pid));
  }
  return family.slice(0, MAX_PROCESSES);
}

/** Usage of this process, from one reading to the next. */
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
