/** A path as one word of a command line, for sh and for Windows. */
export function shellWord(path: string): string {
  if (/^[\w./\\:@%+=,~-]+$/.test(path)) return path;
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}
