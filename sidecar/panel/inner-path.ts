/** A relative path with `/` between its parts that leads out of no folder. */
export function isInnerPath(path: string): boolean {
  return !path.includes('\\') && isTreePath(path);
}

/** The same in a tree of git, where `\` is part of a name. */
export function isTreePath(path: string): boolean {
  return !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
