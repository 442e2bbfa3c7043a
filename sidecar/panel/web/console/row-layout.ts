import type { Span } from './sgr.ts';

/** Cells of a line that are shown in the list; the rest is a click away. */
export const MAX_SHOWN = 1_000;

const ASCII = /^[\u0020-\u007e]*$/;

/**
 * Rows that a text takes where every line is broken after exactly `columns` cells, as a terminal does. Letters that a font may
 * draw wide count two cells: a row too many is an empty row, one too few would hide text.
 */
export function rowCount(text: string, columns: number): number {
  if (text.length <= columns && ASCII.test(text)) return 1;
  if (ASCII.test(text)) return Math.max(1, Math.ceil(text.length / columns));
  let rows = 1;
  let used = 0;
  for (const character of text) {
    const cells = (character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
    if (used + cells > columns) {
      rows++;
      used = 0;
    }
    used += cells;
  }
  return rows;
}

export function shownText(text: string): string {
  // Never half of a pair of surrogates.
  return text.length <= MAX_SHOWN ? text : text.slice(0, MAX_SHOWN).replace(/[\ud800-\udbff]$/, '');
}

/** The pieces of what is shown of a line. */
export function cutSpans(spans: readonly Span[]): readonly Span[] {
  let room = MAX_SHOWN;
  const cut: Span[] = [];
  for (const span of spans) {
    if (room <= 0) break;
    const text = span.text.length <= room ? span.text : span.text.slice(0, room).replace(/[\ud800-\udbff]$/, '');
    cut.push({ ...span, text });
    room -= span.text.length;
  }
  return cut;
}
