import { describe, expect, it } from 'vitest';
import type { DiagnosticEntry } from '#panel/shapes/diagnostics.ts';
import { foldRepeats } from '#panel/web/logs/fold-repeats.ts';

let second = 59;
const entry = (text: string, changes: Partial<DiagnosticEntry> = {}): DiagnosticEntry => {
  second -= 1;
  const time = `2026-11-24T10:00:${String(second).padStart(2, '0')}.000Z`;
  return { cursor: String(second), time, source: 'server', module: 'shop', level: 'warn', text, ...changes };
};

describe('repeated entries', () => {
  it('are folded into the newest of them, with their number and the time of the oldest', () => {
    const entries = [entry('stock is low'), entry('stock is low'), entry('stock is low'), entry('open')];
    const folded = foldRepeats(entries);
    expect(folded.map(({ count }) => count)).toEqual([3, 1]);
    expect(folded[0]).toMatchObject({ entry: entries[0], since: entries[2]?.time });
  });

  it('stay apart where anything but the time differs', () => {
    const entries = [
      entry('sold 1'),
      entry('sold 2'),
      entry('sold 2', { level: 'error' }),
      entry('sold 2', { module: 'bank' }),
      entry('sold 2', { source: 'panel' }),
    ];
    expect(foldRepeats(entries)).toHaveLength(5);
  });

  it('have keys of their own, also at the same time', () => {
    const [one, other] = [entry('a'), entry('b')];
    const keys = foldRepeats([one, other, one]).map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
  });
});
