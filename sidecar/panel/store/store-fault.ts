import Database from 'better-sqlite3';

/** The panel's file cannot be used. The message is for the owner: which file, why, and what to do. */
export class StoreFault extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }

  get isDiskFull(): boolean {
    return FULL.test(this.code);
  }
}

const FULL = /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/;

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /^SQLITE_(BUSY|LOCKED)/,
    'is locked by another program; end that program, such as a backup or an editor of the file',
  ],
  [FULL, 'cannot grow: the disk is full; free space on it'],
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
  const [, advice] = ADVICE.find(([codes]) => codes.test(code)) ?? [null, OTHER_ADVICE];
  return new StoreFault(`panel.data: ${file} ${advice} (${code})`, code);
}
