import { statfsSync } from 'node:fs';

export const MEMORY = '/dev/shm';
/** A container may have as little as 64 MB there. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/**
 * A folder in memory for data that is thrown away: a database waits for the disk at many steps, and each wait is milliseconds.
 * Writes of a killed process stay there as they would on a disk.
 *
 * @returns undefined on a machine without one, or with little room in it
 */
export function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY : undefined;
  } catch {
    return undefined;
  }
}
