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
  const lengths = headEnd < 0 ? null : lengthsIn(packed.slice(0, headEnd));
  if (lengths === null) return null;
  const texts: string[] = [];
  let at = headEnd + 1;
  for (let index = 0; index < lengths.length; index += 1) {
    const next = at + Number(lengths[index]);
    if (next > packed.length) return null;
    texts.push(packed.slice(at, next));
    at = next;
  }
  return at === packed.length ? texts : null;
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
  const lengths = lengthsIn(packed.toString('latin1', 0, headEnd));
  if (lengths === null) return null;
  const texts: string[] = [];
  let at = headEnd + 1;
  for (let index = 0; index < lengths.length; index += 1) {
    const next = at + Number(lengths[index]);
    if (next > packed.length) return null;
    texts.push(packed.toString('utf8', at, next));
    at = next;
  }
  return at === packed.length ? texts : null;
}

/** Digits of each length; null if the head holds anything else. */
function lengthsIn(head: string): readonly string[] | null {
  if (!LENGTHS.test(head)) return null;
  return head === '' ? [] : head.split(',');
}
