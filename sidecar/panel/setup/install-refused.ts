/** Reason why an installation stops, in words for the owner. */
export class InstallRefused extends Error {
  override readonly name = 'InstallRefused';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space and install again',
  EDQUOT: 'the disk quota of this user is used up; free some space and install again',
  EACCES: 'the sidecar has no right to write there',
  EPERM: 'the sidecar has no right to write there',
  EROFS: 'the disk can only be read',
  ENAMETOOLONG: 'the path is too long',
  ENOTDIR: 'a part of the path is a file',
  EXDEV: 'a folder in it is a disk of its own',
};

/** Message of a failed job. It names paths, which are the owner's, and never the content of a file. */
export function problemForOwner(error: unknown): string {
  if (error instanceof InstallRefused) return error.message;
  const { code, path } = error as NodeJS.ErrnoException;
  const reason = REASONS[code ?? ''] ?? `the system says ${code ?? 'no reason'}`;
  return path === undefined ? reason : `${path}: ${reason}`;
}
