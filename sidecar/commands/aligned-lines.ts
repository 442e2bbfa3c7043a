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
