/** Room that stays free on a disk: a database, a journal and logs beside the work must not stop for it. */
export const RESERVE_BYTES = 64 * 2 ** 20;

/** Codes of system calls: the disk has no room, or the quota of the account on it. */
const SYSTEM_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
/** Codes of SQLite: of a statement, and of a reader that needs shared memory beside the file. */
const SQLITE_CODES: readonly unknown[] = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'];

/** Whether a system call failed for want of room. */
export function isFullDisk(error: unknown): boolean {
  return SYSTEM_CODES.includes(codeOf(error));
}

/** Whether SQLite failed for want of room. */
export function isFullFile(error: unknown): boolean {
  return SQLITE_CODES.includes(codeOf(error));
}

/** Whether a program that failed says that it found no room: the C library's words, git's own, or the codes of Node.js. */
export function saysFullDisk(text: string): boolean {
  return /No space left on device|Out of disk ?space|Disk quota exceeded|\b(?:ENOSPC|EDQUOT)\b/i.test(text);
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
