import type { Scratch } from './scratch.ts';

/**
 * Many texts as one: the lengths of all, a line feed, then the texts with nothing between them. A codec of exports copies one
 * text, or one piece of bytes, at a fraction of the cost of many.
 */

const LENGTHS = /^(?:\d+(?:,\d+)*)?$/;
const LINE_FEED = 10;

/** Lengths count UTF-16 code units. */
export function packTexts(texts: readonly string[]): string {
  let lengths = '';
  let joined = '';
  for (let index = 0; index < texts.length; index += 1) {
    const text = texts[index] as string;
    lengths += index === 0 ? text.length : `,${text.length}`;
    joined += text;
  }
  return `${lengths}\n${joined}`;
}

/** Null if it is no packed text. */
export function unpackTexts(packed: string): string[] | null {
  const headEnd = packed.indexOf('\n');
  const ends = headEnd < 0 ? null : endsIn(packed.slice(0, headEnd), headEnd + 1, packed.length);
  if (ends === null) return null;
  const texts: string[] = [];
  for (let index = 1; index < ends.length; index += 1) texts.push(packed.slice(ends[index - 1], ends[index]));
  return texts;
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
  const ends = headEnd < 0 ? null : endsIn(packed.toString('latin1', 0, headEnd), headEnd + 1, packed.length);
  if (ends === null) return null;
  const texts: string[] = [];
  for (let index = 1; index < ends.length; index += 1)
    texts.push(packed.toString('utf8', ends[index - 1], ends[index]));
  return texts;
}

/** Where the first text begins, then where each ends; null if the head holds anything but lengths that fill the rest. */
function endsIn(head: string, first: number, length: number): number[] | null {
  if (!LENGTHS.test(head)) return null;
  const lengths = head === '' ? [] : head.split(',');
  const ends = [first];
  let end = first;
  for (let index = 0; index < lengths.length; index += 1) {
    end += Number(lengths[index]);
    ends.push(end);
  }
  return end === length ? ends : null;
}
