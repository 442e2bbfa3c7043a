import { describe, expect, it } from 'vitest';
import { ConsoleLines } from '#standalone/console-lines.ts';

function capture(): { lines: ConsoleLines; written: () => string } {
  let text = '';
  return {
    lines: new ConsoleLines((more) => {
      text += more;
    }),
    written: () => text,
  };
}

describe('the console', () => {
  it('puts the name of the bundle before each of its lines, so that none passes for another', () => {
    const { lines, written } = capture();
    lines.ofBundle('shop', 'one\n[bank] two\r\nthree');
    expect(written()).toBe('[shop] one\n[shop] [bank] two\n[shop] three\n');
  });

  it('shows control characters in place of obeying them', () => {
    const { lines, written } = capture();
    lines.ofBundle('shop', 'a\u001b[2Jb\rc\u0000\td\u009b');
    lines.say('\u0007');
    expect(written()).toBe('[shop] a\\x1b[2Jb\\x0dc\\x00\td\\x9b\n\\x07\n');
  });

  it('takes anything that a script may hand it', () => {
    const { lines, written } = capture();
    lines.ofBundle('shop', undefined as never);
    lines.ofBundle('shop', 5 as never);
    expect(written()).toBe('[shop] undefined\n[shop] 5\n');
  });
});
