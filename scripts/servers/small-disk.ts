// A disk of its own for a server, in memory, so that a test can fill it. It is mounted for the supervisor and its children alone:
// when they are gone, so is the disk.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
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

/** A small disk in the view of one process: it is there for that process and for commands behind `enter`, and goes with it. */
export interface HeldDisk {
  /** Words before a command that sees the disk. */
  readonly enter: readonly string[];
  /** A path of the disk, for this process. No path for SQLite, which follows links by itself. */
  outside(path: string): string;
  close(): void;
}

/** Mounts a disk over a folder. An account that is not root does so as the root of a namespace of its own. @throws if this system forbids it */
export async function holdSmallDisk(folder: string, megabytes: number, files?: number): Promise<HeldDisk> {
  const options = `size=${megabytes}m,mode=0700${files === undefined ? '' : `,nr_inodes=${files}`}`;
  return hold('mount -t tmpfs -o "$1" tmpfs "$0"', folder, options);
}

/**
 * As `holdSmallDisk`, with a file system whose folders take blocks (ext4, of 1 KiB, in the file `FOLDER.img`): once it is full, a
 * name does not fit into a full folder, and a rename fails. Needs a real root.
 */
export async function holdBlockDisk(folder: string, megabytes: number, files = 64): Promise<HeldDisk> {
  const image = `${folder}.img`;
  closeSync(openSync(image, 'w'));
  truncateSync(image, megabytes * 2 ** 20);
  const options = ['-q', '-F', '-b', '1024', '-m', '0', '-O', '^has_journal', '-N', String(files)];
  execFileSync('mkfs.ext4', [...options, image], { stdio: 'pipe' });
  return hold('mount -o loop "$1" "$0"', folder, image);
}

/** @param mount a command of the shell: `$0` is the folder, `$1` its `argument` */
async function hold(mount: string, folder: string, argument: string): Promise<HeldDisk> {
  if (process.platform !== 'linux') throw new Error('A disk of a given size needs Linux.');
  const view = isRoot() ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  // The holder lives as long as its standard input.
  const holder = spawn('unshare', [...view, 'sh', '-c', `${mount} && echo mounted && exec cat`, folder, argument], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let words = '';
  holder.stderr.on('data', (chunk: Buffer) => (words += chunk));
  const ended = once(holder, 'close').then(() => false);
  const isMounted = await Promise.race([once(holder.stdout, 'data').then(() => true), ended]);
  if (!isMounted) throw new Error(`A disk of a given size cannot be mounted here: ${words.trim()}`);
  const user = isRoot() ? [] : [`--user=/proc/${holder.pid}/ns/user`, '--preserve-credentials'];
  return {
    // Another view of the disks begins at their root.
    enter: [
      ...['nsenter', ...user, `--mount=/proc/${holder.pid}/ns/mnt`],
      ...['sh', '-c', 'cd "$0" && exec "$@"', process.cwd()],
    ],
    outside: (path) => `/proc/${holder.pid}/root${path}`,
    close: () => holder.stdin.end(),
  };
}

/** @throws if no disk of a given size can be had here */
export function provideSmallDisk(): Promise<void> {
  return tryDisk((folder) => holdSmallDisk(folder, 1));
}

async function tryDisk(holdDisk: (folder: string) => Promise<HeldDisk>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    (await holdDisk(disk)).close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The reason, or null if a disk of a given size can be had. */
export function whyNoSmallDisk(): Promise<string | null> {
  return reasonOf(provideSmallDisk());
}

/** The reason, or null if a disk whose folders take blocks can be had. */
export function whyNoBlockDisk(): Promise<string | null> {
  return reasonOf(tryDisk((folder) => holdBlockDisk(folder, 1)));
}

function reasonOf(trial: Promise<void>): Promise<string | null> {
  return trial.then(
    () => null,
    (error: Error) => error.message,
  );
}

export function unmountSmallDisk(folder: string): void {
  // Lazily: a server that was just killed may still be letting go of its files.
  execFileSync('umount', ['--lazy', folder]);
}

const filler = (folder: string): string => join(folder, 'filler');
const fillers = (folder: string): string => join(folder, 'fillers');

/** To the last byte but `leftBytes`. Only ever called for a folder that is a small disk. */
export function fillDisk(folder: string, leftBytes = 0): void {
  const file = openSync(filler(folder), 'a');
  try {
    for (const size of [1 << 20, 4096, 1024]) writeUntilFull(file, Buffer.alloc(size));
    if (leftBytes > 0) ftruncateSync(file, fstatSync(file).size - leftBytes);
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

/** To the last file that it can hold, by empty ones. */
export function fillFiles(folder: string): void {
  mkdirSync(fillers(folder));
  try {
    for (let number = 0; ; number += 1) closeSync(openSync(join(fillers(folder), String(number)), 'w'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** The disk to its last byte, and one folder of a `holdBlockDisk` to its last name: by links to the file that fills the disk. */
export function fillNames(folder: string, below: string): void {
  fillDisk(folder);
  let number = 0;
  for (const chars of [250, 100, 40, 16, 8, 4]) {
    try {
      for (; ; number += 1) linkSync(filler(folder), join(below, `.${String(number).padStart(chars - 1, '0')}`));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

export function emptyDisk(folder: string): void {
  const { ino, nlink } = statSync(filler(folder), { throwIfNoEntry: false }) ?? { ino: 0, nlink: 0 };
  for (const path of nlink > 1 ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []) {
    if (path !== basename(filler(folder)) && lstatSync(join(folder, path)).ino === ino) rmSync(join(folder, path));
  }
  for (const own of [filler(folder), fillers(folder)]) rmSync(own, { recursive: true, force: true });
}
