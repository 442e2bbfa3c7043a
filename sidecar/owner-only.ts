const OTHERS = 0o077;

/** Umask of the process that started this one; null before `makeOwnerOnly`. */
let givenUmask: number | null = null;

/** From now on whatever this process makes is for its user alone: the database, backups, journal, logs, panel files. */
export function makeOwnerOnly(): void {
  givenUmask ??= process.umask();
  process.umask(givenUmask | OTHERS);
}

/** Starts another program, whose files are its own, with the umask that this process was given. `start` is synchronous. */
export function withGivenUmask<T>(start: () => T): T {
  if (givenUmask === null) return start();
  const own = process.umask(givenUmask);
  try {
    return start();
  } finally {
    process.umask(own);
  }
}
