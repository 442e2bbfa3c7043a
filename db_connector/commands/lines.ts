/** Rows of a label and a text, the texts aligned. */
export function alignedLines(rows: readonly (readonly [label: string, text: string])[]): string[] {
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  return rows.map(([label, text]) => `${label.padEnd(width)}${text}`);
}
