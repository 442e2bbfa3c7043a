import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { grouped, MoveRefused } from '../moving/report.ts';

/** Left to everything else on the disk: a database beside the backups must not stop for them. */
const RESERVE_BYTES = 64 * 2 ** 20;

/** @throws MoveRefused if `bytes` more do not fit beside a reserve. `work` begins the line */
export function needSpace(folder: string, bytes: number, work: string): void {
  const [needed, free] = [bytes + RESERVE_BYTES, freeBytes(folder)];
  if (free >= needed) return;
  throw new MoveRefused(
    `${work} needs ${grouped(needed)} bytes in ${folder}, and ${grouped(free)} are free: make room there. Nothing was changed`,
  );
}

/** Runs work that only writes new files into a folder. @throws MoveRefused that names it if its disk is full */
export async function namingFullDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    const limit = code === 'EDQUOT' ? 'the quota of this account is used up' : 'the disk is full';
    throw new MoveRefused(
      `${limit} (${grouped(freeBytes(folder))} bytes are free in ${folder}): make room there. Nothing was changed`,
    );
  }
}

/** For this account, on the disk of a folder, which may not be there yet. */
function freeBytes(folder: string): number {
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  return bavail * bsize;
}
