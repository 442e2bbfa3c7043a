import type { Say, Tone } from '../config/say.ts';

/** A label, a text, and what is to be thought of it. */
export type Fact = readonly [label: string, text: string, tone?: Tone];

/** `45 s`, `3 min 05 s`, `2 h 07 min`. */
export function duration(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** A line for each fact, the texts aligned. */
export function sayFacts(facts: readonly Fact[], say: Say): void {
  const width = Math.max(...facts.map(([label]) => label.length)) + 2;
  for (const [label, text, tone] of facts) {
    say(`${label.padEnd(width)}${text}`, tone);
  }
}

/** A table with its head: names to the left, figures to the right. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}
