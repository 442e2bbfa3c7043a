import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import { LineBuffer, sourcesOf } from '#panel/web/console/line-buffer.ts';

const line = (seq: number, text = `line ${seq}`): ConsoleLine => ({
  seq,
  time: '2026-11-23T01:02:03.000Z',
  stream: 'out',
  text,
});
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => line(from + index));

function shown(buffer: LineBuffer): string[] {
  const texts: string[] = [];
  for (let number = buffer.entries.start; number < buffer.entries.end; number++) {
    const entry = buffer.entries.at(number);
    texts.push(entry?.missingFrom === null ? String(entry.seq) : `${entry?.missingFrom}..${entry?.seq}`);
  }
  return texts;
}

describe('the buffer of console lines', () => {
  it('shows each line once, also where the stream and an answer bring it', () => {
    const buffer = new LineBuffer();
    buffer.add(range(5, 7));
    buffer.add(range(3, 6));
    buffer.add(range(6, 8));
    expect(shown(buffer)).toEqual(['3', '4', '5', '6', '7', '8']);
  });

  it('names the bundles that speak by the numbers in their names', () => {
    const buffer = new LineBuffer();
    buffer.add(['extra_10', 'jobs', 'extra_2'].map((source, index) => line(index + 1, `[${source}] up`)));
    expect(sourcesOf(buffer)).toEqual(['extra_2', 'extra_10', 'jobs']);
  });

  it('keeps the newest lines, and their numbers', () => {
    const buffer = new LineBuffer(3);
    buffer.add(range(1, 5));
    expect(shown(buffer)).toEqual(['3', '4', '5']);
    expect(buffer.entries.start).toBe(2);
    expect(buffer.entries.at(1)).toBeUndefined();
  });

  it('is bounded in letters as well, so that long lines leave no room for many', () => {
    const buffer = new LineBuffer(100, 1_000);
    for (let seq = 1; seq <= 50; seq++) buffer.add([line(seq, 'x'.repeat(300))]);
    expect(shown(buffer)).toEqual(['48', '49', '50']);
    buffer.add([line(47, 'y'.repeat(800))]);
    expect(shown(buffer)).toEqual(['48', '49', '50']);
  });

  it('tells where lines are missing, until they come', () => {
    const buffer = new LineBuffer();
    buffer.add(range(1, 2));
    buffer.addGap(3, 9);
    buffer.add(range(10, 10));
    expect(shown(buffer)).toEqual(['1', '2', '3..9', '10']);
    buffer.add(range(6, 10));
    expect(shown(buffer)).toEqual(['1', '2', '3..5', '6', '7', '8', '9', '10']);
    buffer.add(range(3, 5));
    expect(shown(buffer)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  });

  it('tells no gap over lines that it has', () => {
    const buffer = new LineBuffer();
    buffer.add(range(1, 9));
    buffer.addGap(3, 9);
    expect(shown(buffer)).toHaveLength(9);
    buffer.addGap(8, 12);
    expect(shown(buffer).at(-1)).toBe('10..12');
  });

  it('is in order and without repeats after whatever comes in', () => {
    const batches = fc.array(
      fc.array(
        fc.nat({ max: 60 }).map((seq) => line(seq)),
        { maxLength: 12 },
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(batches, (all) => {
        const buffer = new LineBuffer();
        for (const batch of all) buffer.add(batch);
        const expected = [...new Set(all.flat().map(({ seq }) => seq))].sort((a, b) => a - b);
        expect(shown(buffer)).toEqual(expected.map(String));
      }),
    );
  });
});
