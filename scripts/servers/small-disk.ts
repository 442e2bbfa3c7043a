// A disk of its own for a server, in memory, so that a test can fill it. It is mounted for the supervisor and its children alone:
// when they are gone, so is the disk.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isRoot, serverAccount } from './private-command.ts';

/** How a supervisor is started that may mount such disks. */
export function withPrivateMounts(argv: readonly string[]): string[] {
  if (process.platform !== 'linux' || !isRoot()) throw new Error('A disk of a given size needs root on Linux.');
  return ['unshare', '--mount', ...argv];
}

export function mountSmallDisk(folder: string, megabytes: number): void {
  const { uid, gid } = serverAccount() ?? { uid: 0, gid: 0 };
  const options = `size=${megabytes}m,mode=0700,uid=${uid},gid=${gid}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
}

export function unmountSmallDisk(folder: string): void {
  // Lazily: a server that was just killed may still be letting go of its files.
  execFileSync('umount', ['--lazy', folder]);
}

const filler = (folder: string): string => join(folder, 'filler');

/** To the last byte. Only ever called for a folder that is a small disk. */
export function fillDisk(folder: string): void {
  const file = openSync(filler(folder), 'a');
  try {
    for (const size of [1 << 20, 4096]) writeUntilFull(file, Buffer.alloc(size));
  } finally {
    closeSync(file);
  }
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    for (;;) if (writeSync(file, block) < block.length) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

export function emptyDisk(folder: string): void {
  rmSync(filler(folder), { force: true });
}
