import type { DiffHunk, DiffLine } from '../shapes/merging.ts';
import { visibleText } from './visible-text.ts';

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const KINDS: Readonly<Record<string, DiffLine['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed' };

/**
 * Hunks of each file of a patch that git wrote, in its order. The lengths in a hunk's head say which lines are its own, so that
 * no line of a file is taken for the head of another.
 */
export function readPatch(patch: string): DiffHunk[][] {
  const files: DiffHunk[][] = [];
  const lines = patch.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('diff --git ')) files.push([]);
    const [head, oldStart, oldCount = '1', newStart, newCount = '1'] = HUNK.exec(line) ?? [];
    if (head === undefined) continue;
    const hunk: DiffLine[] = [];
    let [oldLeft, newLeft] = [Number(oldCount), Number(newCount)];
    while (oldLeft + newLeft > 0 && at + 1 < lines.length) {
      at += 1;
      const text = lines[at] ?? '';
      const kind = KINDS[text[0] ?? ' '];
      // "\ No newline at end of file" counts for nothing.
      if (kind === undefined) continue;
      if (kind !== 'added') oldLeft -= 1;
      if (kind !== 'removed') newLeft -= 1;
      hunk.push({ kind, text: visibleText(text.slice(1).replace(/\r$/, '')) });
    }
    files.at(-1)?.push({ oldStart: Number(oldStart), newStart: Number(newStart), lines: hunk });
  }
  return files;
}
