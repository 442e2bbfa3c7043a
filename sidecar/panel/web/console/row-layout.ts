import type { Span } from './sgr.ts';

/** Cells of a line that are shown in the list; the rest is a click away. */
export const MAX_SHOWN = 1_000;

const ASCII = /^[\u0020-\u007e]*$/;

/**
 * Offsets at which a text goes on in the next row: after the last blank that fits, or within a word that is longer than a row.
 * Letters that a font may draw wide count two cells: a row too many is an empty row, one too few would hide text. Blanks at
 * the end of a row take no room.
 */
export function rowBreaks(text: string, columns: number): number[] {
  if (text.length <= columns && ASCII.test(text)) return [];
  const breaks: number[] = [];
  let used = 0;
  let afterBlank = { offset: 0, used: 0 };
  let offset = 0;
  for (const character of text) {
    const cells = (character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
    if (character !== ' ' && used + cells > columns) {
      const start = breaks.at(-1) ?? 0;
      // An indent alone is no row.
      const atBlank = afterBlank.offset > start && text.slice(start, afterBlank.offset).trim() !== '';
      breaks.push(atBlank ? afterBlank.offset : offset);
      used -= atBlank ? afterBlank.used : used;
    }
    used += cells;
    offset += character.length;
    if (character === ' ') afterBlank = { offset, used };
  }
  return breaks;
}

export function rowCount(text: string, columns: number): number {
  return rowBreaks(text, columns).length + 1;
}

/** The pieces of a span, cut at the breaks of its line. `from` is the offset of the span. */
export function cutAtBreaks(text: string, from: number, breaks: readonly number[]): string[] {
  const inside = breaks.filter((at) => at > from && at < from + text.length).map((at) => at - from);
  return [0, ...inside].map((at, index) => text.slice(at, inside[index]));
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
