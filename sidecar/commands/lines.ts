/**
 * Text of others on one line of a terminal: names and keys of a foreign database may hold what moves the cursor, clears
 * the screen, or turns the direction of writing.
 */
export function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}

/** Lines whose columns stand below each other; `right` names those that hold numbers. */
export function alignedLines(
  header: readonly string[],
  cells: readonly (readonly string[])[],
  right: readonly string[] = [],
): string[] {
  const rows = [header, ...cells];
  const widths = header.map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(header[i] ?? '') ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
