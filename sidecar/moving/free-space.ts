import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { DiskFullError } from '../engine/disk-full.ts';
import { isFullDisk, isFullFile, RESERVE_BYTES } from '../full-disk.ts';
import { MoveRefused, sized } from './report.ts';

const NOTHING_CHANGED = 'Nothing was changed';

/** Work that takes room on the disk of a folder, for the line about it. */
export interface DiskWork {
  readonly folder: string;
  /** Bytes, as far as they are known before. */
  readonly needed?: number | undefined;
  /** State of the work, and how it goes on. Default: nothing was changed. */
  readonly after?: string;
}

/** @throws MoveRefused if `bytes` more do not fit beside a reserve. `work` begins the line */
export function needSpace(folder: string, bytes: number, work: string, reserve = RESERVE_BYTES): void {
  const [needed, free] = [bytes + reserve, freeBytes(folder)];
  if (free >= needed) return;
  throw new MoveRefused(
    `${work} needs ${sized(needed)} in ${folder}, and ${sized(free, Math.floor)} are free: make room there. ${NOTHING_CHANGED}`,
  );
}

/** Whether two folders, which may not be there yet, take their room from one disk. */
export function isOneDisk(folder: string, other: string): boolean {
  return statSync(nearest(folder)).dev === statSync(nearest(other)).dev;
}

/** Runs work that writes. @throws MoveRefused that names the folder and what to do if its disk is full */
export async function namingFullDisk<T>(work: DiskWork, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw fullDiskRefusal(error, work) ?? error;
  }
}

/** Runs work on a database. @throws MoveRefused that names the folder of its file if the disk is full */
export async function namingFullDatabase<T>(after: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof DiskFullError ? ofDatabase(error, { after }) : error;
  }
}

function ofDatabase(
  { file }: DiskFullError,
  { folder, needed, after = NOTHING_CHANGED }: Partial<DiskWork>,
): MoveRefused {
  if (file === null) return new MoveRefused(`the disk of the database server is full: make room there. ${after}`);
  // A file of the work itself is gone when this is read.
  const isOfWork = folder !== undefined && file.startsWith(`${folder}${sep}`);
  return new MoveRefused(`${fullText(isOfWork ? folder : dirname(file), needed)}. ${after}`);
}

/** Null if the error is not about a full disk. */
export function fullDiskRefusal(error: unknown, work: DiskWork): MoveRefused | null {
  if (error instanceof DiskFullError) return ofDatabase(error, work);
  const { folder, needed, after = NOTHING_CHANGED } = work;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EDQUOT')
    return new MoveRefused(`the quota of this account is used up in ${folder}: raise it. ${after}`);
  const isFull = isFullDisk(error) || isFullFile(error);
  return isFull ? new MoveRefused(`${fullText(folder, needed)}. ${after}`) : null;
}

function fullText(folder: string, needed: number | undefined): string {
  const free = `${sized(freeBytes(folder), Math.floor)} are free in ${folder}`;
  return `the disk is full (${needed === undefined ? free : `at least ${sized(needed)} are needed, and ${free}`}): make room there`;
}

/** For this account, on the disk of a folder, which may not be there yet. */
function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(nearest(folder));
  return bavail * bsize;
}

function nearest(folder: string): string {
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  return there;
}
