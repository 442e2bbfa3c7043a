const FAULTS: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `the file ${file} does not exist`,
  EACCES: (file) => `this user may not read the file ${file}`,
  EPERM: (file) => `this user may not read the file ${file}`,
  EISDIR: (file) => `${file} is a folder, not a file`,
};

/** Sentence about a file that could not be read. */
export function fileFault(file: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known = FAULTS[code ?? ''];
  return known === undefined ? `the file ${file} cannot be read: ${code ?? message}` : known(file);
}
