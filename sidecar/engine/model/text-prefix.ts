/**
 * First text after all texts with the prefix, in order of UTF-8 bytes, which is that of code points; null if there is
 * none.
 */
export function endOfPrefix(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return null;
}
