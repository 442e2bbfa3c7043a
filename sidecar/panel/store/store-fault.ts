import Database from 'better-sqlite3';
import { isFullDisk, isFullFile } from '#sidecar/full-disk.ts';

/** The panel's file cannot be used. The message is for the owner: which file, why, and what to do. */
export class StoreFault extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }

  get isDiskFull(): boolean {
    return isFull(this);
  }
}

function isFull(error: unknown): boolean {
  return isFullDisk(error) || isFullFile(error);
}

const FULL_ADVICE = 'cannot grow: the disk is full; free space on it';
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /^SQLITE_(BUSY|LOCKED)/,
    'is locked by another program; end that program, such as a backup or an editor of the file',
  ],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    'is damaged; stop the sidecar, then put a copy from a backup in its place, or move it away and set up the panel again',
  ],
];
const OTHER_ADVICE = 'cannot be read or written; check its disk, and the rights of the file and its folder';
/** Error codes of files, not of sockets. */
const FILE_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'EPERM', 'ENOTDIR', 'EISDIR'];

/** null if the error is no fault of the file or its disk. */
export function storeFaultOf(error: unknown, file: string): StoreFault | null {
  if (error instanceof StoreFault) return error;
  const { code } = error as { readonly code?: unknown };
  const isOfFile = error instanceof Database.SqliteError || FILE_CODES.includes(code);
  if (!isOfFile || typeof code !== 'string') return null;
  const known = ADVICE.find(([codes]) => codes.test(code))?.[1] ?? OTHER_ADVICE;
  const advice = isFull(error) ? FULL_ADVICE : known;
  return new StoreFault(`panel.data: ${file} ${advice} (${code})`, code);
}
