import { describe, expect, it } from 'vitest';
import english from '#panel/web/locales/en.json' with { type: 'json' };
import { exitSignal, KNOWN_SIGNALS } from '#panel/web/logs/exit-text.ts';

describe('the end of a crashed server', () => {
  it.each([
    [{ signal: 'SIGSEGV', code: null }, 'SIGSEGV'],
    [{ signal: null, code: 137 }, 'SIGKILL'],
    [{ signal: null, code: 134 }, 'SIGABRT'],
    // Windows: access violation.
    [{ signal: null, code: 0xc0000005 }, 'SIGSEGV'],
    [{ signal: null, code: 1 }, null],
    [{ signal: 'SIGWINCH', code: null }, null],
    [{ signal: null, code: null }, null],
  ])('%j is %s', (exit, expected) => {
    expect(exitSignal(exit)).toBe(expected);
  });

  it('has one sentence for each signal', () => {
    const sentences = KNOWN_SIGNALS.map((signal) => english.logs[`signal-${signal}`]);
    expect(sentences.every((text) => /^[A-Z].*\.$/.test(text))).toBe(true);
    expect(new Set(sentences).size).toBe(KNOWN_SIGNALS.length);
  });
});
