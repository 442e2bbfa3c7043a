import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import { LineBuffer } from '#panel/web/console/line-buffer.ts';
import { EVERYTHING, markMatches, searchPattern } from '#panel/web/console/line-query.ts';
import { LineView } from '#panel/web/console/line-view.ts';
import { cutAtBreaks, MAX_SHOWN, rowBreaks, rowCount } from '#panel/web/console/row-layout.ts';

const line = (seq: number, text: string, stream: ConsoleLine['stream'] = 'out'): ConsoleLine => ({
  seq,
  time: '2026-11-23T01:02:03.000Z',
  stream,
  text,
});

function texts(view: LineView): string[] {
  return Array.from({ length: view.length }, (_, index) => view.entryAt(view.start + index)?.plain ?? '');
}

describe('what is shown of the console', () => {
  it('is the lines of one bundle, with what was sent and what the panel says', () => {
    const buffer = new LineBuffer();
    buffer.add([
      line(1, '[shop] open'),
      line(2, '[bank] open'),
      line(3, 'status', 'in'),
      line(4, '\u001b[32m[ script:shop] sold\u001b[0m'),
      line(5, 'started', 'panel'),
      line(6, 'no bundle'),
    ]);
    const view = new LineView(buffer);
    view.layOut({ ...EVERYTHING, source: 'shop' }, 80);
    expect(texts(view)).toEqual(['[shop] open', 'status', '[ script:shop] sold', 'started']);
    view.layOut({ ...EVERYTHING, streams: ['in'] }, 80);
    expect(texts(view)).toEqual(['status']);
  });

  it('finds text of either case, through its colours, as it stands', () => {
    const buffer = new LineBuffer();
    buffer.add([line(1, 'Er\u001b[31mror (1.0)'), line(2, 'error (1x0)'), line(3, 'fine')]);
    const view = new LineView(buffer);
    view.layOut({ ...EVERYTHING, search: 'ERROR (1.0' }, 80);
    expect(view.length).toBe(3);
    expect([view.matches.length, view.matches.at(view.matches.start)]).toEqual([1, 0]);
    view.layOut({ ...EVERYTHING, search: 'error', onlyMatches: true }, 80);
    expect(texts(view)).toEqual(['Error (1.0)', 'error (1x0)']);
  });

  it('keeps numbers and rows while lines fall out at the start', () => {
    const buffer = new LineBuffer(3);
    const view = new LineView(buffer);
    view.layOut({ ...EVERYTHING, search: 'line' }, 4);
    buffer.add([1, 2, 3].map((seq) => line(seq, `line ${seq}`)));
    expect(view.sync()).toBe(true);
    const row = view.rowOf(2);
    buffer.add([line(4, 'line 4')]);
    expect(view.sync()).toBe(true);
    expect([view.start, view.rowOf(2), view.firstRow, view.endRow]).toEqual([1, row, 2, 8]);
    expect(view.matches.length).toBe(3);
  });

  it('stands still while it is frozen, and misses nothing afterwards', () => {
    const buffer = new LineBuffer();
    const view = new LineView(buffer);
    buffer.add([line(1, 'a'), line(2, 'b')]);
    view.layOut(EVERYTHING, 80);
    view.freeze(2);
    buffer.add([line(3, 'c')]);
    view.sync();
    view.layOut({ ...EVERYTHING, search: 'b' }, 40);
    expect(texts(view)).toEqual(['a', 'b']);
    view.freeze(null);
    buffer.add([line(4, 'd')]);
    view.sync();
    expect(texts(view)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('has rows for what it shows of a long line, not for all of it', () => {
    const buffer = new LineBuffer();
    buffer.add([line(1, 'x'.repeat(16_384))]);
    const view = new LineView(buffer);
    view.layOut(EVERYTHING, 100);
    expect(view.endRow).toBe(MAX_SHOWN / 100);
  });

  it('is the same step by step as in one go', () => {
    const word = fc.constantFrom('[a] x', '[b] yy', 'long long long line', 'é漢字漢字', '');
    const steps = fc.array(fc.array(word, { maxLength: 6 }), { maxLength: 8 });
    const filters = fc.record({
      source: fc.constantFrom('', 'a'),
      search: fc.constantFrom('', 'l'),
      onlyMatches: fc.boolean(),
    });
    fc.assert(
      fc.property(steps, filters, fc.integer({ min: 2, max: 9 }), (batches, wanted, columns) => {
        const filter = { ...EVERYTHING, ...wanted };
        const buffer = new LineBuffer(10);
        const stepwise = new LineView(buffer);
        stepwise.layOut(filter, columns);
        let seq = 0;
        for (const batch of batches) {
          buffer.add(batch.map((text) => line(++seq, text)));
          stepwise.sync();
        }
        const atOnce = new LineView(buffer);
        atOnce.layOut(filter, columns);
        expect(texts(stepwise)).toEqual(texts(atOnce));
        expect(stepwise.endRow - stepwise.firstRow).toBe(atOnce.endRow - atOnce.firstRow);
        expect(stepwise.matches.length).toBe(atOnce.matches.length);
        for (let number = stepwise.start; number < stepwise.end; number++) {
          expect(stepwise.numberAtRow(stepwise.rowOf(number))).toBe(number);
          expect(stepwise.numberOfSeq(stepwise.entryAt(number)?.seq ?? -1)).toBe(number);
        }
      }),
    );
  });
});

describe('rows of a text', () => {
  it.each([
    ['', 10, 1],
    ['0123456789', 10, 1],
    ['0123456789a', 10, 2],
    ['漢字', 3, 2],
    ['a漢', 2, 2],
  ])('%s in %d columns: %d', (text, columns, rows) => {
    expect(rowCount(text, columns)).toBe(rows);
  });

  it.each([
    ['one two three', 8, ['one two ', 'three']],
    ['one two   three', 7, ['one two   ', 'three']],
    ['a verylongwordindeed b', 8, ['a ', 'verylong', 'wordinde', 'ed b']],
    ['    /a/long/path', 8, ['    /a/l', 'ong/path']],
    ['漢字 漢字', 4, ['漢字 ', '漢字']],
  ])('end after a blank where one fits: %s in %d columns', (text, columns, rows) => {
    expect(cutAtBreaks(text, 0, rowBreaks(text, columns))).toEqual(rows);
  });

  it('lose no letter and none is too long', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', '漢'), maxLength: 60 });
    fc.assert(
      fc.property(letters, fc.integer({ min: 2, max: 12 }), (text, columns) => {
        const rows = cutAtBreaks(text, 0, rowBreaks(text, columns));
        expect(rows.join('')).toBe(text);
        for (const row of rows) expect([...row.trimEnd()].length).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

describe('marks of the search', () => {
  it('reach over pieces of several colours and change no letter', () => {
    const spans = [
      { text: 'an er', classes: '' },
      { text: 'ror here', classes: 'fg-1' },
    ];
    expect(markMatches(spans, searchPattern('Error'))).toEqual([
      { text: 'an ', classes: '', marked: false },
      { text: 'er', classes: '', marked: true },
      { text: 'ror', classes: 'fg-1', marked: true },
      { text: ' here', classes: 'fg-1', marked: false },
    ]);
  });

  it('hold for any search and any pieces', () => {
    const piece = fc.record({ text: fc.string({ minLength: 1, maxLength: 6 }), classes: fc.constantFrom('', 'fg-1') });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.string({ maxLength: 3 }), (spans, search) => {
        const marked = markMatches(spans, searchPattern(search));
        expect(marked.map((span) => span.text).join('')).toBe(spans.map((span) => span.text).join(''));
      }),
    );
  });
});
