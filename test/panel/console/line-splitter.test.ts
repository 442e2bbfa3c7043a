import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '#panel/console/line-splitter.ts';

function linesOf(...pieces: (string | Uint8Array)[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const piece of pieces) splitter.write(typeof piece === 'string' ? Buffer.from(piece) : piece);
  splitter.end();
  return lines;
}

describe('output of a process in lines', () => {
  it.each([
    ['both ends of lines', ['a\nb\r\nc\n'], ['a', 'b', 'c']],
    ['what is left at the end is a line', ['a\nb'], ['a', 'b']],
    ['empty lines are lines', ['\n\na\n'], ['', '', 'a']],
    ['an end in two pieces', ['a\r', '\nb\n'], ['a', 'b']],
    ['a progress bar leaves its last state', ['10%\r20%\r', '30%\nok\n'], ['30%', 'ok']],
    ['several returns before the end', ['a\r\r\nb\n'], ['a', 'b']],
  ])('%s', (_name, given, expected) => {
    expect(linesOf(...given)).toEqual(expected);
  });

  it('puts a character together that came in pieces', () => {
    const bytes = Buffer.from('a漢🙂\n');
    expect(linesOf(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(['a漢🙂']);
  });

  it('goes on after broken UTF-8', () => {
    expect(linesOf(Uint8Array.of(0x61, 0xff, 0xfe, 0xc3, 0x0a, 0x62, 0x0a))).toEqual(['a���', 'b']);
    expect(linesOf(Uint8Array.of(0x61, 0xe6, 0xbc))).toEqual(['a�']);
  });

  it('keeps a bounded piece of a line without an end, and the next line whole', () => {
    const lines = linesOf(...Array.from({ length: 64 }, () => 'x'.repeat(2 ** 20)), '\nnext\n');
    expect(lines[0]?.length).toBeLessThan(100_000);
    expect(lines[1]).toBe('next');
  });

  it('says the same however the bytes are cut into pieces', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', '漢', 'bc'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(linesOf(...pieces)).toEqual(linesOf(whole));
      }),
    );
  });
});
