import type { DiagnosticEntry } from '#panel/shapes/diagnostics.ts';

/** Equal entries in a row, as one. */
export interface FoldedEntry {
  /** Stays the same while newer entries come in. */
  readonly key: string;
  /** The newest of them. */
  readonly entry: DiagnosticEntry;
  readonly count: number;
  /** Time of the oldest. */
  readonly since: string;
}

/** Newest first, as the entries are. Only what is equal in source, part, level and text is folded: no digit gets lost. */
export function foldRepeats(entries: readonly DiagnosticEntry[]): FoldedEntry[] {
  const folded: FoldedEntry[] = [];
  const known = new Map<string, number>();
  for (const entry of entries) {
    const last = folded.at(-1);
    if (last !== undefined && isSame(last.entry, entry)) {
      folded[folded.length - 1] = { ...last, count: last.count + 1, since: entry.time };
      continue;
    }
    const name = `${entry.time} ${entry.source} ${entry.text}`;
    const before = known.get(name) ?? 0;
    known.set(name, before + 1);
    folded.push({ key: `${name} ${before}`, entry, count: 1, since: entry.time });
  }
  return folded;
}

function isSame(one: DiagnosticEntry, other: DiagnosticEntry): boolean {
  return (
    one.source === other.source && one.module === other.module && one.level === other.level && one.text === other.text
  );
}
