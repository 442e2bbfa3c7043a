import type { Scratch } from './scratch.ts';

/**
 * Many texts as one: the lengths of all, a line feed, then the texts with nothing between them. A codec of exports copies one
 * text, or one piece of bytes, at a fraction of the cost of many.
 */

const LENGTHS = /^(?:\d+(?:,\d+)*)?$/;
const LINE_FEED = 10;

/** Lengths count UTF-16 code units. */
export function packTexts(texts: readonly string[]): string {
  return `${texts.map(({ length }) => length).join()}\n${texts.join('')}`;
}

/** Null if it is no packed text. */
export function unpackTexts(packed: string): string[] | null {
  const headEnd = packed.indexOf('\n');
  if (headEnd < 0) return null;
  return cut(packed.slice(0, headEnd), headEnd + 1, packed.length, (from, to) => packed.slice(from, to));
}

/**
 * As UTF-8: lengths count bytes. Each text is written in its place: joined first, they would be one long string more.
 *
 * @param texts well-formed
 * @param scratch holds the bytes
 */
export function packBytes(texts: readonly string[], scratch: Scratch): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const head = `${lengths.join()}\n`;
  const bytes = lengths.reduce((sum, length) => sum + length, head.length);
  const packed = scratch.of(bytes);
  let at = packed.write(head, 0, 'latin1');
  for (const text of texts) at += packed.write(text, at, 'utf8');
  return packed.subarray(0, bytes);
}

/** Null if they are no packed texts. A script that keeps one of the texts does not keep the others alive. */
export function unpackBytes(packed: Buffer): string[] | null {
  const headEnd = packed.indexOf(LINE_FEED);
  if (headEnd < 0) return null;
  const head = packed.toString('latin1', 0, headEnd);
  return cut(head, headEnd + 1, packed.length, (from, to) => packed.toString('utf8', from, to));
}

function cut(head: string, start: number, end: number, textAt: (from: number, to: number) => string): string[] | null {
  if (!LENGTHS.test(head)) return null;
  const texts: string[] = [];
  let at = start;
  for (const length of head === '' ? [] : head.split(',')) {
    const next = at + Number(length);
    if (next > end) return null;
    texts.push(textAt(at, next));
    at = next;
  }
  return at === end ? texts : null;
}
