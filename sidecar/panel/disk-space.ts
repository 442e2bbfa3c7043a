import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isFullDisk, RESERVE_BYTES } from '#sidecar/full-disk.ts';
import { PanelError } from './panel-error.ts';

/** Content that is about to be written. */
export interface NeededSpace {
  readonly bytes: number;
  /** Number of files: each takes whole blocks, and an entry of the disk's table of files. */
  readonly files?: number;
}

/** The reserve alone counts: the size is judged when it is known. */
export const UNKNOWN_SIZE: NeededSpace = { bytes: 0 };
const BLOCK_BYTES = 4096;
const MEBIBYTE = 2 ** 20;

/** Before much is written. @throws PanelError `disk.full` if the disk of `folder` has less room than `needed` and a reserve */
export async function checkDiskSpace(folder: string, needed: NeededSpace): Promise<void> {
  const free = await freeSpace(folder);
  if (free.bytes < bytesOnDisk(needed) || free.files < (needed.files ?? 1)) throw fullDisk(folder, needed, free);
}

/**
 * Runs work that writes into `folder`, whose disk others may fill meanwhile.
 *
 * @throws PanelError `disk.full` in place of the system's error
 */
export async function namingFullDisk<Result>(
  folder: string,
  needed: NeededSpace,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    throw fullDisk(folder, needed, await freeSpace(folder));
  }
}

/** For work of other programs, which have said that they found no room below `folder`. */
export async function fullDiskOf(folder: string): Promise<PanelError> {
  return fullDisk(folder, UNKNOWN_SIZE, await freeSpace(folder));
}

async function freeSpace(folder: string): Promise<Required<NeededSpace>> {
  const { bavail, bsize, files, ffree } = await statfsAbove(folder);
  // Some disks have no table of files, and report none.
  return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree };
}

/** The folder may be one that could not be made. */
async function statfsAbove(folder: string): Promise<StatsFs> {
  return await statfs(folder).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error;
    return statfsAbove(dirname(folder));
  });
}

function bytesOnDisk({ bytes, files = 0 }: NeededSpace): number {
  return bytes + files * BLOCK_BYTES + RESERVE_BYTES;
}

function fullDisk(folder: string, needed: NeededSpace, free: Required<NeededSpace>): PanelError {
  const [has, needs] = [Math.floor(free.bytes / MEBIBYTE), Math.ceil(bytesOnDisk(needed) / MEBIBYTE)];
  const files = free.files < (needed.files ?? 1) ? `, and room for ${free.files} files of ${needed.files ?? 1}` : '';
  const detail = `the disk of ${folder} is full: ${has} MiB are free, ${needs} MiB are needed${files}; make room there`;
  return new PanelError('disk.full', { detail });
}
