/** Advice for a call of the operating system that failed; the path stands before it. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not do that: let the user that runs the sidecar write there',
  EPERM: 'this user may not do that: let the user that runs the sidecar write there',
  EROFS: 'the disk is read-only: mount it for writing, or choose another folder',
  ENOSPC: 'the disk is full: make room there',
  EDQUOT: 'the quota of this user is used up: make room there',
  EMFILE: 'too many files are open: raise the limit of open files (ulimit -n)',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  EEXIST: 'a file of that name is in the way: move it',
  EBUSY: 'another program uses it',
};

/** `mkdir` with all parents reports a read-only disk and a link that leads nowhere as ENOENT. */
const NO_FOLDER =
  'the disk is read-only, or a link on the way leads nowhere: mount it for writing, or choose another folder';

const VERBS: Readonly<Record<string, string>> = {
  mkdir: 'cannot make the folder',
  open: 'cannot open',
  read: 'cannot read',
  scandir: 'cannot read the folder',
  stat: 'cannot look at',
  lstat: 'cannot look at',
  write: 'cannot write',
  rename: 'cannot rename',
  unlink: 'cannot delete',
  copyfile: 'cannot copy',
};

/** Sentence about a failed call on a file: what was tried, where, and what to do; null for every other error. */
export function systemFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (path === undefined || code === undefined) return null;
  const advice = syscall === 'mkdir' && code === 'ENOENT' ? NO_FOLDER : ADVICE[code];
  if (advice === undefined) return null;
  return `${VERBS[syscall ?? ''] ?? `${syscall} failed for`} ${path}: ${advice} (${code})`;
}
